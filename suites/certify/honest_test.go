package certify

import (
	"crypto/ed25519"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/evidence"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/bundle"
	"outreach.example/conformance/reports/jsonfile"
	"outreach.example/conformance/suites/runner"
	"outreach.example/conformance/suites/selftest/faults"
)

var honestServers = flag.Int("honest", 1, "on how many servers TestHonestBundles_long records a run")

// No honest bundle is refused, whatever legal surprises the server has, and whether it conforms or not.
func TestHonestBundles_long(t *testing.T) {
	groups := faults.Groups(1, faults.Quirks(), 4)
	defects := faults.Defects()
	for i := range *honestServers {
		apply, name := faults.Combine(groups[i%len(groups)]...).Apply, "quirks"
		if i%4 == 3 {
			d := defects[i*len(defects)/(*honestServers)]
			apply, name = d.Apply, d.ID
		}
		data, err := dataset.New(dataset.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		server, err := refserver.New(data, refserver.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p := profile.FromDataset(data)
		handler := apply(&faults.Target{Profile: p, Seed: 1})(faults.Serving(server.Handler()))
		dir := t.TempDir()
		file, err := os.Create(filepath.Join(dir, bundle.EvidenceFile))
		if err != nil {
			t.Fatal(err)
		}
		results, err := runner.Run(t.Context(), runner.Config{Target: &target.Target{BaseURL: "http://subject.invalid", Kind: target.KindURL, Profile: p},
			Seed: uint64(i + 1), Version: "test", Commit: "abc", Transport: faults.RoundTripper(handler, ""),
			Evidence: evidence.NewRecorder(file, reports.ToolName, "test", profile.Shape)})
		if err != nil {
			t.Fatal(err)
		}
		_ = file.Close()
		if err := jsonfile.Run.Write(filepath.Join(dir, bundle.ResultsFile), results); err != nil {
			t.Fatal(err)
		}
		l := verified(t, pack(t, []string{dir}, options("")), bundle.Options{PublicKey: vendor.Public().(ed25519.PublicKey), Now: time.Now()})
		t.Logf("server %d (%s): %s, %s %v", i+1, name, results.Verdict, l.State(), results.Troubles)
		if l.State() != bundle.OK {
			t.Errorf("refused:\n%s", told(l))
		}
	}
}

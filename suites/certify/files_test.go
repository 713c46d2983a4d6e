package certify

import (
	"bytes"
	"compress/gzip"
	"crypto/ed25519"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"outreach.example/conformance/reports/bundle"
)

var (
	key     = ed25519.NewKeyFromSeed([]byte("a seed of 32 bytes, of a vendor."))
	started = time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
)

// honest returns a bundle of two runs, in the form of those that the program writes.
func honest(t *testing.T) []byte {
	t.Helper()
	m := bundle.Manifest{Certificate: true, Level: "full", Nonce: "a nonce", Created: started.Add(time.Hour), Expires: started.AddDate(1, 0, 0)}
	files := map[string]bundle.Source{bundle.ProfileFile: bundle.Bytes([]byte("name: a server\nvendor: a vendor\n")), bundle.PageFile: bundle.Bytes([]byte("<html>")), bundle.BadgeFile: bundle.Bytes([]byte("<svg/>"))}
	for run := 1; run <= 2; run++ {
		m.Runs = append(m.Runs, bundle.Run{ID: fmt.Sprint("run ", run), Started: started, Seed: int64(run), Verdict: "pass"})
		var evidence bytes.Buffer
		zip := gzip.NewWriter(&evidence)
		fmt.Fprintf(zip, `{"log":{"entries":[`+"\n"+`{"startedDateTime":"2026-11-30T10:00:00Z","request":{"headers":[{"name":"User-Agent","value":"a"}]},"_id":%d,"response":{"status":200}},`+"\n"+`{"_id":2,"response":{"status":404}}`+"\n"+`],"_run":{}}}`+"\n", run*10)
		_ = zip.Close()
		files[bundle.InRun(run, bundle.EvidenceFile)] = bundle.Bytes(evidence.Bytes())
		files[bundle.InRun(run, bundle.ReportFile)] = bundle.Bytes(fmt.Appendf(nil, "<html>%d", run))
		files[bundle.InRun(run, bundle.ResultsFile)] = bundle.Bytes(fmt.Appendf(nil, `{"tool":{},"target":{"name":"a server"},"run":{"seed":%d},"verdict":"pass","levels":[],"checks":[{"operation":"a","outcome":"pass"},{"operation":"b","outcome":"pass"}]}`, run))
	}
	var b bytes.Buffer
	if err := bundle.Write(&b, m, files, key); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// refuted reports whether the files, digests, dates and signatures alone show the change.
func refuted(archive []byte, public ed25519.PublicKey) bool {
	b, err := bundle.Read(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return true
	}
	return slices.ContainsFunc(b.Check(bundle.Options{PublicKey: public, Nonce: "a nonce", Now: started.Add(48 * time.Hour)}), func(l bundle.Line) bool { return l.State == bundle.Refuted })
}

// These leave a bundle whose files and digests agree, if the forger also replaces or removes the
// signature: only the vendor's public key shows them, or the evidence of the run.
var contents = []string{
	"flipped outcome", "removed check", "added check", "narrowed run", "other verdict", "dropped exchange", "added exchange", "altered exchange",
	"evidence of another run", "other seed", "other date", "other run", "other requirement set", "other vendor", "other name", "other version",
	"other target profile", "other program", "other catalogue", "other setting", "claimed certificate", "later expiry", "other page",
	"exchanges of another day", "other User-Agent", "ambiguous exchange", "invented observations", "other levels", "page of another version",
}

func TestTheVendorsKeyShowsEachChange(t *testing.T) {
	archive := honest(t)
	public := key.Public().(ed25519.PublicKey)
	if refuted(archive, public) || refuted(archive, nil) {
		t.Fatal("the honest bundle is refuted")
	}
	names := map[string]bool{}
	for _, k := range Kinds {
		if names[k.Name] {
			t.Errorf("two kinds %s", k.Name)
		}
		names[k.Name] = true
		passed := false
		for seed := range uint64(10) {
			for _, recompute := range []bool{false, true} {
				changed, err := Apply(archive, k, rand.New(rand.NewPCG(seed, 0)), recompute)
				if err != nil {
					t.Fatal(err)
				}
				if bytes.Equal(changed, archive) {
					t.Errorf("%s changes nothing", k.Name)
				}
				if !refuted(changed, public) {
					t.Errorf("%s (seed %d, recompute %t): the vendor's key does not show it", k.Name, seed, recompute)
				}
				unseen := !refuted(changed, nil)
				if unseen && !recompute && !slices.Contains([]string{"missing signature", "signature by a stranger", "wrong signature"}, k.Name) {
					t.Errorf("%s (seed %d): the digests do not show it", k.Name, seed)
				}
				passed = passed || unseen && recompute
			}
		}
		if want := slices.Contains(contents, k.Name) || k.Plain && slices.Contains([]string{"missing signature", "signature by a stranger", "wrong signature"}, k.Name); passed != want {
			t.Errorf("%s: without the key, it passes %t with new digests; want %t", k.Name, passed, want)
		}
	}
	for _, name := range contents {
		if !names[name] {
			t.Errorf("there is no kind %s", name)
		}
	}
}

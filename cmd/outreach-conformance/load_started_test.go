package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	. "github.com/onsi/gomega"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	vegeta "github.com/tsenart/vegeta/v12/lib"
	"github.com/xeipuuv/gojsonschema"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver/truth"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
)

// quick is a scenario of a second, with as many requests as say something of a
// 99th percentile. Its name is the file's.
const quick = `scenarios:
  - name: quick
    about: The smallest page of one list, at one rate.
    kind: steady
    mix: {lead-lists.list: 1}
    page_sizes: [1]
    rate: 400
    duration: 1s
`

// loaded runs load with the scenario quick, which must end with the code. How
// late a busy machine sends is no subject of these tests.
func loaded(t *testing.T, code int, args ...string) (ended, load.Results) {
	t.Helper()
	args = append([]string{loadCommand, "--scenario-file", written(t, "quick.yaml", quick), "--lag-limit", "1h", "--seed", "7"}, args...)
	e := exitsWith(t, code, nil, args...)
	return e, loadResults(t, e.dir)
}

// loadResults are those that a load run has written into the directory. They
// are held against the committed JSON Schema, which others read them by.
func loadResults(t *testing.T, dir string) load.Results {
	t.Helper()
	file := filepath.Join(dir, defaultLoadOutput, loadFile)
	body := contents(t, file)
	judged, err := gojsonschema.Validate(gojsonschema.NewBytesLoader(load.Schema()), gojsonschema.NewStringLoader(body))
	if err != nil {
		t.Fatal(err)
	}
	if !judged.Valid() {
		t.Errorf("%s is not valid against the schema: %v", file, judged.Errors())
	}
	return must[load.Results](t)(load.Read(file))
}

// Each file can be read by those whom it is for, and they all tell the same.
func TestLoadFilesAreWhatTheySeem_long(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	e, r := loaded(t, 0, "--raw", "--raw=jsonl", "--threshold", "p99<20s")
	phase := r.Scenarios[0].Phases[0]
	g.Expect(r.Verdict).To(Equal(reports.Passed))
	g.Expect(phase.Sent).To(BeEquivalentTo(400))
	path := func(name string) string { return filepath.Join(e.dir, defaultLoadOutput, name) }

	raw := readRaw(t, path(rawFile))
	g.Expect(raw.Requests).To(BeEquivalentTo(400))
	g.Expect(raw.StatusCodes).To(Equal(map[string]int{"200": 400}))
	lines := contents(t, path(rawLinesFile))
	g.Expect(strings.Count(lines, "\n")).To(Equal(400))
	for line := range strings.Lines(lines) {
		var one struct {
			Attack, Timestamp string
			Latency           int64
			Code              int
		}
		g.Expect(json.Unmarshal([]byte(line), &one)).To(Succeed())
		g.Expect(one.Code).To(Equal(200))
		g.Expect(one.Latency).To(BeNumerically(">", 0))
	}
	g.Expect(readRaw(t, path(rawLinesFile)).Latencies.P99).To(Equal(raw.Latencies.P99), "both files hold the same")

	counts := map[string]int64{}
	logs := hdr.NewHistogramLogReader(strings.NewReader(contents(t, path(hdrFile))))
	for {
		h := must[*hdr.Histogram](t)(logs.NextIntervalHistogram())
		if h == nil {
			break
		}
		counts[h.Tag()] += h.TotalCount()
	}
	g.Expect(counts).To(HaveKeyWithValue("response.accepted", BeEquivalentTo(400)))

	metrics := contents(t, path(metricsFile))
	g.Expect(metrics).To(HaveSuffix("# EOF\n"))
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(metrics))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(families).NotTo(BeEmpty())

	page := contents(t, path(pageFile))
	g.Expect(page).To(ContainSubstring("quick"))
	g.Expect(regexp.MustCompile(`(?i)(src|href|action|data|poster|srcset)\s*=\s*["']?(https?:|//)|@import|url\(`).FindAllString(page, -1)).To(BeEmpty(), "the page asks nobody")

	g.Expect(contents(t, path(loadJUnitFile))).To(And(ContainSubstring(`name="p99&lt;20s in steady" classname="quick"`), ContainSubstring(`failures="0" errors="0"`)))

	g.Expect(e.stdout).To(And(ContainSubstring("✓ PASS"), ContainSubstring("threshold       p99<20s  met in steady"),
		ContainSubstring("report   load-results/load.html"), HaveSuffix("\n"), Not(ContainSubstring("\x1b"))))
	g.Expect(e.stderr).To(And(MatchRegexp(`^\[1/1\] quick steady  \d+(\.\d)?/1 s .*400 ok  0 failed`), Not(ContainSubstring("\x1b"))))
}

// readRaw reads the results as `vegeta report` does.
func readRaw(t *testing.T, file string) vegeta.Metrics {
	t.Helper()
	decode := vegeta.DecoderFor(strings.NewReader(contents(t, file)))
	if decode == nil {
		t.Fatal("vegeta does not know the encoding")
	}
	var metrics vegeta.Metrics
	for {
		var r vegeta.Result
		if err := decode(&r); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		metrics.Add(&r)
	}
	metrics.Close()
	if err := vegeta.NewTextReporter(&metrics).Report(&bytes.Buffer{}); err != nil {
		t.Error(err)
	}
	return metrics
}

// The exit code says what became of the thresholds.
func TestLoadThresholds(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		thresholds []string
		code       int
		verdict    reports.Verdict
		says       string
	}{
		"met":         {[]string{"p50<20s", "errors<1%", "limited<1%"}, 0, reports.Passed, `errors<1%  met in steady`},
		"missed":      {[]string{"p50<20s", "p50<1us"}, 1, reports.Failed, `because +p50<1us missed`},
		"undecidable": {[]string{"p50<20s", "p99.9<20s"}, exitCannotTell, reports.Inconclusive, `because +p99.9<20s inconclusive`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var args []string
			for _, threshold := range tc.thresholds {
				args = append(args, "--threshold", threshold)
			}
			e, r := loaded(t, tc.code, args...)
			g := NewWithT(t)
			g.Expect(r.Verdict).To(Equal(tc.verdict), "%s", e)
			g.Expect(e.stdout).To(MatchRegexp(tc.says))
		})
	}
}

// A server with faults fails, and one that is worse than another is told apart.
func TestLoadOfAFaultyServer_long(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	failing, _ := servingBuilt(t, "--shape", "errors=10%:503")
	e, r := loaded(t, 1, "--target", failing, "--threshold", "errors<1%")
	// Of each hundred just ten fail; the server has been asked before the scenario, too.
	g.Expect(r.Scenarios[0].Phases[0].Statuses["503"]).To(BeNumerically("~", 40, 10))
	g.Expect(e.stdout).To(MatchRegexp(`errors<1%  missed in steady`))

	honest, _ := servingBuilt(t)
	slow, _ := servingBuilt(t, "--shape", "100%:600ms")
	e, r = loaded(t, 1, "--target", honest, "--against", slow, "--scenario", "quick", "--rate", "40", "--duration", "200ms", "--pairs", "12", "--threshold", "errors<10%")
	g.Expect(r.Comparison.Pairs).To(Equal(12))
	g.Expect(r.Comparison.A.Name).To(Equal(honest), "no profile names it")
	g.Expect(r.Comparison.B.Name).To(Equal(slow))
	for _, side := range r.Scenarios {
		g.Expect(side.Thresholds).To(HaveExactElements(And(HaveField("Phase", "all blocks"), HaveField("Outcome", load.Met))), "what 12 times 8 requests tell, 8 do not")
	}
	g.Expect(e.stdout).To(MatchRegexp(`response p50 +worse`))

	e, r = loaded(t, 1, "--target", honest, "--against", slow, "--scenario", "quick", "--rate", "40", "--duration", "200ms", "--threshold", "worse<5%")
	g.Expect(r.Scenarios[0].Thresholds).To(BeEmpty(), "the first target is what the second is compared with")
	g.Expect(r.Scenarios[1].Thresholds).To(ConsistOf(
		HaveField("Phase", "response p50"), HaveField("Phase", "response p90"), HaveField("Phase", "response p99")))
	g.Expect(r.Scenarios[1].Thresholds[0].Outcome).To(Equal(load.Missed))
	g.Expect(e.stdout).To(ContainSubstring("worse<5%  missed"))
}

// What an earlier run has measured is a bound for a later one, also where that is
// better. The servers differ by far more than a busy machine adds.
func TestLoadAgainstABaseline_long(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	slow, _ := servingBuilt(t, "--shape", "100%:3s")
	file := func(e ended) string { return filepath.Join(e.dir, defaultLoadOutput, loadFile) }
	since := func(code int, earlier string, args ...string) (ended, load.Threshold) {
		e, r := loaded(t, code, append(args, "--threshold", "worse<10% vs "+earlier)...)
		g.Expect(r.Scenarios[0].Thresholds).To(HaveLen(2), "one for the median, one for the 99th percentile")
		return e, r.Scenarios[0].Thresholds[0]
	}
	quicker, _ := loaded(t, 0)
	slower, median := since(1, file(quicker), "--target", slow)
	g.Expect(median.Outcome).To(Equal(load.Missed))

	baseline := file(slower) // its thresholds do not matter to later runs
	_, median = since(0, baseline)
	g.Expect(median.Measured.Value).To(BeNumerically("<", 0))
	loaded(t, 0, "--baseline", baseline, "--threshold", "worse<10%")

	other := written(t, "other.yaml", strings.ReplaceAll(quick, "name: quick", "name: other"))
	e := exitsWith(t, exitCannotTell, nil, loadCommand, "--scenario-file", other, "--lag-limit", "1h", "--baseline", baseline, "--threshold", "worse<10%")
	g.Expect(e.stdout).To(ContainSubstring("worse<10% inconclusive"))
}

// The profile bounds load and gates it.
func TestLoadKeepsToTheProfile(t *testing.T) {
	t.Parallel()
	base, _ := servingBuilt(t)
	for name, tc := range map[string]struct {
		use     profile.LoadUse
		code    int
		says    string
		reached int64 // requests
	}{
		"thresholds": {profile.LoadUse{Thresholds: []string{"p50<1us"}}, 1, `p50<1us missed`, 400},
		"rate":       {profile.LoadUse{MaxRate: 300}, exitCannotTell, `400 requests a second exceed the profile's maximum of 300 \(load.max_rate\)`, 0},
		"budget":     {profile.LoadUse{Budget: 399}, exitCannotTell, `the budget of 399 requests is too small`, 0},
		// Two requests more tell the calibration how large answers are, and whether the key will do.
		"within all": {profile.LoadUse{MaxRate: 400, Budget: 402, Thresholds: []string{"p50<20s"}}, 0, `✓ PASS`, 400},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := profile.Embedded()
			p.BaseURL, p.Load = base, &tc.use
			text := must[[]byte](t)(p.YAML(""))
			e, r := loaded(t, tc.code, "--target-profile", written(t, "server.yaml", string(text)))
			g := NewWithT(t)
			g.Expect(r.Traffic.Sent).To(Equal(tc.reached))
			g.Expect(strings.Join(strings.Fields(e.stdout), " ")).To(MatchRegexp(tc.says))
		})
	}
}

// An interrupted run leaves whole files of what it has measured.
func TestInterruptedLoad(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	limits := strings.Replace(quick, "page_sizes: [1]", "page_sizes: [1, 10, 20, 50]", 1)
	c := command(t, nil, loadCommand, "--scenario-file", written(t, "limits.yaml", limits), "--lag-limit", "1h", "--raw", "--duration", "2s")
	// The line of a phase is written when the next one has begun.
	p, _ := begun(t, c, `^\[1/1\] (quick) limit=1 `)
	g.Expect(p.end(t, syscall.SIGINT)).To(Equal(exitInterrupted), "%s", p.output.bytes())
	g.Expect(string(p.output.bytes())).To(MatchRegexp(`\? INCONCLUSIVE \(interrupted\)  exit 130`))

	r := loadResults(t, c.Dir)
	g.Expect(r.Run.Interrupted).To(BeTrue())
	g.Expect(r.Verdict).To(Equal(reports.Inconclusive))
	g.Expect(r.Scenarios[0].Phases[0].Sent).To(BeEquivalentTo(800), "of the phase that was over")
	raw := readRaw(t, filepath.Join(c.Dir, defaultLoadOutput, rawFile))
	g.Expect(int64(raw.Requests)).To(Equal(r.Traffic.Sent))
}

// --operation bounds all requests: those before the load, of each scenario and of the
// calibration. --probe names the list to infer the rate limit with.
func TestLoadRequestsTheNamedOperationsOnly_long(t *testing.T) {
	t.Parallel()
	base, truthURL := servingBuilt(t)
	c := command(t, nil, loadCommand, "--target", base, "--operation", spec.ListLeadLists+","+spec.ListLeadLabels,
		"--scenario", "list-throughput,walk,rate-limit", "--duration", "500ms", "--warmup", "0s", "--rate", "20", "--page-size", "10", "--probe", spec.ListLeadLabels)
	out, _ := c.CombinedOutput() // so little load decides nothing
	var record truth.Report
	testbed.Get(t, truthURL+"/truth", "", &record)
	asked := map[string]int64{}
	for _, r := range record.Requests {
		if r.Status != http.StatusUnauthorized { // the wait for an answer asks without a key
			asked[r.Operation] += r.Count
		}
		if r.Status == http.StatusTooManyRequests && r.Operation != spec.ListLeadLabels {
			t.Errorf("%s was probed", r.Operation)
		}
	}
	if len(asked) != 2 || asked[spec.ListLeadLists] == 0 || asked[spec.ListLeadLabels] == 0 {
		t.Errorf("requests by operation: %v\n%s", asked, out)
	}
}

package view_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports"

	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/view"
	"outreach.example/conformance/spec"
)

// suite is the part of a JUnit file that CI systems count.
type suite struct {
	Suite struct {
		Errors   int `xml:"errors,attr"`
		Failures int `xml:"failures,attr"`
		Tests    int `xml:"tests,attr"`
		Cases    []struct {
			Time float64 `xml:"time,attr"`
			Says []struct {
				Message string `xml:"message,attr"`
			} `xml:",any"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

func junitOf[T any](t *testing.T, show view.View[T], results T) (s suite) {
	t.Helper()
	NewWithT(t).Expect(xml.Unmarshal([]byte(shown(t, show, results, view.Options{})), &s)).To(Succeed())
	return s
}

// Every verdict other than pass, and a pass of nothing, is in the counts that CI systems read.
func TestJUnitIsNeverGreenAboutNothing(t *testing.T) {
	type change = func(*reports.Results)
	for says, c := range map[string]struct {
		change           change
		errors, failures int
	}{
		"throttled":               {func(r *reports.Results) { r.Verdict, r.Reasons = reports.Inconclusive, []string{"throttled"} }, 1, 0},
		"the run was interrupted": {func(r *reports.Results) { r.Run.Interrupted, r.Verdict = true, reports.Inconclusive }, 1, 0},
		"an expected failure passes": {func(r *reports.Results) {
			r.Verdict, r.Reasons = reports.Failed, []string{"an expected failure passes"}
		}, 0, 1},
		"but no check passed": {func(r *reports.Results) { r.Checks = nil }, 1, 0},
		"verdict: ":           {func(r *reports.Results) { r.Verdict = "" }, 1, 0},
		"nobody is there": {func(r *reports.Results) { // one testcase says why
			r.Verdict, r.Reasons = reports.Inconclusive, []string{"nobody is there"}
			for i := range r.Checks {
				r.Checks[i].Outcome = reports.NotAssessed
			}
		}, 1, 0},
		"and no specs ran": {func(r *reports.Results) { // as when judge reads a recording
			r.Run.Specs, r.Verdict, r.Reasons = 0, reports.Inconclusive, []string{"and no specs ran"}
		}, 1, 0},
	} {
		r := sample.Passed()
		c.change(&r)
		s := junitOf(t, view.Formats["junit"].Run, r).Suite
		g := NewWithT(t)
		g.Expect([]int{s.Errors, s.Failures}).To(Equal([]int{c.errors, c.failures}), says)
		g.Expect(s.Cases[0].Says[0].Message).To(ContainSubstring(says))
		g.Expect(len(s.Cases) == 1).To(Equal(len(r.Checks) == reports.Count(r.Checks).NotAssessed))
	}

	lacking := load.Scenario{Name: "rate-limit", Verdict: reports.Inconclusive, Missing: []string{"a key"}}
	for says, c := range map[string]struct {
		change func(*load.Results)
		errors int
	}{
		"":                          {func(r *load.Results) { r.Scenarios = append(r.Scenarios, lacking) }, 0},
		"no scenario passed":        {func(r *load.Results) { r.Scenarios = []load.Scenario{lacking} }, 1},
		"the run was interrupted":   {func(r *load.Results) { r.Run.Interrupted, r.Verdict = true, reports.Inconclusive }, 1},
		"verdict: inconclusive: up": {func(r *load.Results) { r.Verdict, r.Reasons = reports.Inconclusive, []string{"up"} }, 1},
	} {
		r := sample.PassedLoad()
		c.change(&r)
		s := junitOf(t, view.Formats["junit"].Load, r).Suite
		g := NewWithT(t)
		g.Expect([]int{s.Errors, s.Failures}).To(Equal([]int{c.errors, 0}), says)
		if c.errors > 0 {
			g.Expect(s.Cases[0].Says[0].Message).To(ContainSubstring(says))
		}
	}
}

func TestTheTimesOfAllTestcasesAddUpToThatOfTheRun(t *testing.T) {
	r := sample.Passed()
	r.Run.Seconds = 1 + 0.25*float64(len(r.Checks))
	sum := 0.0
	for i := range r.Checks {
		r.Checks[i].Seconds = 0.25
	}
	for _, c := range junitOf(t, view.Formats["junit"].Run, r).Suite.Cases {
		sum += c.Time
	}
	NewWithT(t).Expect(sum).To(BeNumerically("~", r.Run.Seconds, 1e-9))
}

// Files and pages stay small, whatever the target sent, and say what they leave out.
func TestSizesAreBounded_long(t *testing.T) {
	g := NewWithT(t)
	v := reports.Violation{Statement: strings.Repeat("|", 601), Section: "s", Pointer: "status", Expected: strings.Repeat("e", 200), Actual: strings.Repeat("*", 400), Curl: strings.Repeat("c", 1000),
		Body: strings.Repeat("b", 2000), Exchange: &reports.Exchange{Request: reports.Head{Line: "GET", Bytes: 8 << 20}, Response: reports.Head{Line: "200", Bytes: 8 << 20}}}
	r := sample.Full()
	r.Checks = nil
	for i := range 2000 {
		c := reports.Check{Requirement: fmt.Sprint("X", i), Operation: spec.Operations()[i%18].ID, Group: string(spec.Groups()[i%5]), Outcome: reports.Fail, ViolationCount: 5}
		c.Violations = slices.Repeat([]reports.Violation{v}, 2)
		r.Checks = append(r.Checks, c)
	}
	for format, c := range map[string]struct {
		most int
		says []string
	}{
		"junit":    {5_000_000, []string{`tests="2001"`, "and 4 more"}},
		"markdown": {1 << 20, []string{"more rows are in the results"}},
		"html":     {2_500_000, []string{"2,000 failed checks with", "more, which this page leaves out", "(cut)", "the beginning of a body of 8,388,608 bytes"}},
	} {
		page := shown(t, view.Formats[format].Run, r, view.Options{})
		g.Expect(len(page)).To(BeNumerically("<=", c.most), format)
		for _, says := range c.says {
			g.Expect(strings.Contains(page, says)).To(BeTrue(), "%s: %s", format, says)
		}
	}
	loaded := whole()
	for range 300 {
		loaded.Scenarios = append(loaded.Scenarios, loaded.Scenarios[:6]...)
	}
	g.Expect(len(shown(t, view.Formats["markdown"].Load, loaded, view.Options{}))).To(BeNumerically("<", 1<<20))
	lines := strings.Count(shown(t, view.Formats["github"].Load, loaded, view.Options{ExitCode: 1}), "\n")
	g.Expect(lines).To(Equal(10), "GitHub shows no more")
}

func TestCommandsOfGitHub(t *testing.T) {
	g := NewWithT(t)
	var b strings.Builder
	g.Expect(view.Mistake(&b, errors.New("100 % wrong\n::warning::forged\x1b[31m"))).To(Succeed())
	resume, err := view.StopCommands(&b, "secret")
	g.Expect(err).NotTo(HaveOccurred())
	b.WriteString("::error::forged\n")
	g.Expect(resume()).To(Succeed())
	g.Expect(b.String()).To(Equal(`::error title=outreach-conformance::100 %25 wrong%0A\x3a:warning\x3a:forged\x1b[31m` + "\n" +
		"::stop-commands::secret\n::error::forged\n::secret::\n"))
}

var livePhases = []view.LoadFigures{
	{Scenario: "soak", Phase: "warm-up", Warmup: true, Planned: 10, Sent: 10, Accepted: 10, AskedPerSecond: 5, P50MS: 1, P99MS: 2},
	{Scenario: "soak", Phase: "soak", At: 90 * time.Second, Planned: 600, Sent: 450, InFlight: 3, Accepted: 440, Limited: 5, Failed: 2,
		AskedPerSecond: 5, DonePerSecond: 4, P50MS: 12.345678, P99MS: 90, LagP99MS: 0.5},
}

func live(t *testing.T) map[string]*dto.MetricFamily {
	families, err := parsedMetrics(view.LiveMetrics(time.Unix(1_700_000_000, 0), livePhases))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return families
}

// A figure that the results also have keeps its name and labels; all others are marked.
func TestLiveFiguresHaveTheNamesOfTheFinalOnes(t *testing.T) {
	g, shared := NewWithT(t), 0
	final, err := parsedMetrics(shown(t, view.Formats["openmetrics"].Load, sample.FullLoad(), view.Options{}))
	g.Expect(err).NotTo(HaveOccurred())
	for name, family := range live(t) {
		if strings.HasPrefix(name, "outreach_load_live_") {
			g.Expect(final).NotTo(HaveKey(name))
			continue
		}
		shared++
		g.Expect(slices.Collect(maps.Keys(labelsOf(family)))).To(ConsistOf(slices.Collect(maps.Keys(labelsOf(final[name])))), name)
		g.Expect(family.GetType()).To(Equal(final[name].GetType()), name)
	}
	g.Expect(shared).To(Equal(2))
}

func labelsOf(family *dto.MetricFamily) map[string]bool {
	names := map[string]bool{}
	for _, pair := range family.GetMetric()[0].Label {
		names[pair.GetName()] = true
	}
	return names
}

// The dashboard asks for each figure that a run serves, by labels that the figure has. Prometheus adds the label job.
func TestTheDashboardAsksForWhatThereIs(t *testing.T) {
	g := NewWithT(t)
	text, err := os.ReadFile("../../docs/grafana-dashboard.json")
	g.Expect(err).NotTo(HaveOccurred())
	served, asked := live(t), map[string]bool{}
	for _, query := range regexp.MustCompile(`(outreach_load_\w+)(?:\{([^}]*)\})?`).FindAllStringSubmatch(string(text), -1) {
		asked[query[1]] = true
		g.Expect(served).To(HaveKey(query[1]))
		for _, label := range regexp.MustCompile(`(\w+)=`).FindAllStringSubmatch(query[2], -1) {
			g.Expect(label[1] == "job" || labelsOf(served[query[1]])[label[1]]).To(BeTrue(), "%s of %s", label[1], query[1])
		}
	}
	for name := range served {
		g.Expect(asked).To(HaveKey(name))
	}
}

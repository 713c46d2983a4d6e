package certify

import (
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/runner"
)

// passing returns three runs that certify an implementation.
func passing() (all []Run) {
	for _, c := range Challenges("a nonce") {
		r := Run{Recording: runner.Recording{Seed: c.Seed(), Salt: c.Salt(), Challenge: &c}}
		r.Recording.Profile = "name: server\n"
		if c.Ordinary {
			r.Recording.Profile += "user_agent: " + OrdinaryAgent + "\n"
		}
		r.Recording.ID = sandbox.RunOf(c.Proof(), "").ID
		r.Results = reports.Results{Verdict: reports.Passed, Tool: reports.Tool{Commit: "abc"}, Run: reports.Run{Profile: "full"},
			Target: reports.Target{Name: "server", Version: "1", Vendor: "vendor"}}
		for _, p := range spec.Pairs() {
			r.Results.Checks = append(r.Results.Checks, reports.Check{Requirement: p.Requirement, Operation: p.Operation, Outcome: reports.Pass})
		}
		all = append(all, r)
	}
	return all
}

func TestDecide(t *testing.T) {
	g := NewWithT(t)
	g.Expect(decide("full", passing())).To(Equal(Decision{Level: "full"}))
	first := func(r []Run) *reports.Results { return &r[0].Results }
	for name, test := range map[string]struct {
		change func([]Run) []Run
		says   string
	}{
		"a failure":           {func(r []Run) []Run { first(r).Checks[0].Outcome = reports.Fail; return r }, "(in run 1)"},
		"a stale expectation": {func(r []Run) []Run { first(r).StaleExpectations = []string{"x passes"}; return r }, "x passes (in run 1)"},
		"two runs":            {func(r []Run) []Run { return r[:2] }, "the 3 runs of certify"},
		"other seed":          {func(r []Run) []Run { r[1].Recording.Seed++; return r }, "from one nonce"},
		"another server":      {func(r []Run) []Run { r[1].Results.Target.BaseURL = "http://x"; return r }, "three runs of one implementation"},
		"another profile":     {func(r []Run) []Run { r[2].Recording.Profile += "writes: own\n"; return r }, "three runs of one implementation"},
		"no ordinary agent": {func(r []Run) []Run {
			r[0].Recording.Profile, r[1].Recording.Profile, r[2].Recording.Profile = "name: x", "name: x", "name: x"
			return r
		}, "one run with the User-Agent"},
		"no vendor":         {func(r []Run) []Run { first(r).Target.Vendor = ""; return r }, "name, vendor and version"},
		"some operations":   {func(r []Run) []Run { first(r).Run.Operations = []string{"leads.*"}; return r }, "lists only leads.*"},
		"omitted field":     {func(r []Run) []Run { first(r).Run.Omits = []string{"Lead.email"}; return r }, "Lead.email"},
		"expected failure":  {func(r []Run) []Run { first(r).ExpectedFailures = 1; return r }, "without expected failures"},
		"flaky check":       {func(r []Run) []Run { first(r).Flaky = &reports.Flaky{}; return r }, "without expected failures"},
		"a large recording": {func(r []Run) []Run { r[1].Unread = "too large"; return r }, "can be judged again: too large"},
		"a filter":          {func(r []Run) []Run { first(r).Run.Selection = "--group x"; return r }, "runs of all checks"},
		"another level":     {func(r []Run) []Run { first(r).Run.Profile = "read"; return r }, "runs of all checks"},
		"not assessed": {func(r []Run) []Run {
			first(r).Checks[0].Outcome, first(r).Checks[0].Missing = reports.NotAssessed, []string{"a key"}
			return r
		}, "a key (1 checks need it)"},
		"an error":             {func(r []Run) []Run { first(r).Checks[0].Outcome = reports.Error; return r }, "had trouble"},
		"an interrupted run":   {func(r []Run) []Run { first(r).Run.Interrupted = true; return r }, "not interrupted"},
		"trouble":              {func(r []Run) []Run { first(r).Troubles = []reports.Trouble{{Where: "here", What: "that"}}; return r }, "here: that"},
		"a check that is gone": {func(r []Run) []Run { first(r).Checks = first(r).Checks[1:]; return r }, "a run has"},
		"an unknown commit":    {func(r []Run) []Run { first(r).Tool.Commit = ""; return r }, "known commit"},
		"modified source":      {func(r []Run) []Run { first(r).Tool.Commit = "abc, modified"; return r }, "known commit"},
	} {
		d := decide("full", test.change(passing()))
		all := strings.Join(slices.Concat(d.Failed, d.Missing), "\n")
		if d.Certifies() || !strings.Contains(all, test.says) {
			t.Errorf("%s: want %q, got %q", name, test.says, all)
		}
	}
}

// A certificate of a level says so in its first line; nothing else is one.
func TestPage(t *testing.T) {
	g := NewWithT(t)
	for level, heading := range map[string]string{"full": "<h1>Certificate of conformance</h1>", "read": "<h1>Certificate of conformance, only of the level read</h1>"} {
		d := Decision{Level: level}
		page, badge, err := show(d, manifestOf(d, passing(), Options{Level: level}), 0)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(page)).To(And(ContainSubstring(heading), ContainSubstring("The vendor chose the seed"), Not(ContainSubstring("reference server"))))
		g.Expect(string(badge)).To(ContainSubstring("certified " + level))
	}
	d := Decision{Level: "full", Failed: []string{"<b>"}}
	g.Expect(manifestOf(d, passing(), Options{}).Expires).To(Equal(time.Time{}.AddDate(1, 0, 0)), "a year after the last run, which has no date here")
	page, badge, err := show(d, manifestOf(d, passing(), Options{Level: "full", Nonce: "n"}), 0.9)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(page)).To(And(ContainSubstring("<h1>Not a certificate</h1>"), ContainSubstring("&lt;b&gt;"), ContainSubstring("The recipient chose the nonce"), ContainSubstring("90 %")))
	g.Expect(string(badge)).To(ContainSubstring("not certified"))
}

func TestResemblance(t *testing.T) {
	g := NewWithT(t)
	of := func(values ...string) (all []reports.Observation) {
		for _, v := range values {
			all = append(all, reports.Observation{OpenPoint: "x", Value: v})
		}
		return all
	}
	g.Expect(Resemblance(of("a", "b", "c"), of("a", "b", "c"))).To(Equal(1.0))
	g.Expect(Resemblance(of("a", "b"), of("a", "c"))).To(BeNumerically("~", 1.0/3))
	g.Expect(Resemblance(nil, nil)).To(BeZero())
}

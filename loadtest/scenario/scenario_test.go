package scenario

import (
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports/load"
)

// The built-in scenarios are valid, and each kind has one.
func TestBuiltin(t *testing.T) {
	kinds := map[Kind]bool{}
	var lasts time.Duration
	for _, s := range Builtin() {
		if err := s.Check(); err != nil {
			t.Error(err)
		}
		kinds[s.Kind] = true
		if s.Lasts() > time.Minute {
			t.Errorf("%s lasts %s, want less than a minute", s.Name, s.Lasts())
		}
		lasts += s.Lasts()
	}
	for _, k := range Kinds() {
		if !kinds[k] {
			t.Errorf("no scenario is of kind %s", k)
		}
	}
	if lasts > 3*time.Minute {
		t.Errorf("the default set lasts %s, want at most 3 minutes", lasts)
	}
}

const right = `scenarios:
  - name: mine
    about: What mine finds out.
    kind: steady
    mix: {"*.list": 1, lead-lists.list: 3}
    rate: 10
    duration: 2s
    thresholds: [p99<250ms]
`

func TestParse(t *testing.T) {
	all, err := Parse("mine.yaml", []byte(right))
	if err != nil {
		t.Fatal(err)
	}
	s := all[0]
	if len(all) != 1 || s.Name != "mine" || s.Kind != Steady || s.Rate != 10 || s.Duration != 2*time.Second || s.Mix["lead-lists.list"] != 3 {
		t.Errorf("got %+v", all)
	}
	if got := len(s.Operations()); got != 11 {
		t.Errorf("*.list matches %d operations, want 11", got)
	}
	for _, share := range s.Operations() {
		if want := 1 + 2*strings.Count(share.Operation.ID, "lead-lists.list"); share.Weight != want {
			t.Errorf("%s has the share %d, want %d: its own name goes before a pattern", share.Operation.ID, share.Weight, want)
		}
	}
}

// Parse reports all errors at once, each with its line.
func TestParseSaysWhatIsWrong(t *testing.T) {
	change := func(old, new string) string {
		if !strings.Contains(right, old) {
			t.Fatalf("there is no %q to change", old)
		}
		return strings.Replace(right, old, new, 1)
	}
	for name, tc := range map[string]struct {
		text string
		says []string
	}{
		"unknown kind":      {change("kind: steady", "kind: unsteady"), []string{"mine.yaml:4: scenarios[0].kind: ", `"unsteady": want one of steady, spike`}},
		"unknown operation": {change("lead-lists.list: 3", "lead-lists.lost: 3"), []string{"mine.yaml:5: scenarios[0].mix: ", `"lead-lists.lost" matches no operation`}},
		"nothing left":      {change("1, lead-lists.list: 3", "0, lead-lists.list: 0"), []string{"mine.yaml:5: ", "every weight is 0"}},
		"no unit":           {change("duration: 2s", "duration: 2"), []string{"mine.yaml:7: "}},
		"not a threshold":   {change("p99<250ms", "p99<"), []string{"mine.yaml:8: scenarios[0].thresholds: ", "p99<"}},
		"no list":           {change("kind: steady", "kind: rate-limit\n    probe_budget: 100\n    probe: lead-list.list"), []string{"scenarios[0].probe: ", `"lead-list.list" is no paged list (did you mean lead-lists.list?) (want one of `}},
		"not of this kind":  {right + "    burst: 20\n", []string{"mine.yaml:9: scenarios[0].burst: does not apply to a scenario of kind steady"}},
		"missing":           {change("    rate: 10\n", ""), []string{"scenarios[0].rate: is required for a scenario of kind steady"}},
		"twice":             {right + strings.TrimPrefix(right, "scenarios:\n"), []string{"mine.yaml:9: scenarios[1].name: ", "duplicate name"}},
		"none":              {"scenarios: []\n", []string{"mine.yaml:1: scenarios: is empty"}},
		"too many bytes":    {right + "# " + strings.Repeat("x", maxFile), []string{"bytes"}},
		"every problem": {`scenarios:
  - name: one
    about: ""
    kind: walk
    mix: {leads.move: 1}
    clients: 20000
    duration: 1s
  - name: Two
    about: Second.
    kind: sustained
    mix: {inbox-placement-tests.create: 1, lead-lists.list: 1}
    rate: 100
    max_rate: 50
    duration: 1s
    confirm: 1s
`, []string{"mine.yaml:3: ", "mine.yaml:5: scenarios[0].mix: leads.move has no pages", "mine.yaml:6: scenarios[0].clients: 20000",
			"mine.yaml:8: ", "mine.yaml:11: scenarios[1].mix: inbox-placement-tests.create changes data", "mine.yaml:13: scenarios[1].max_rate: 50: want at least"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("mine.yaml", []byte(tc.text))
			if err == nil {
				t.Fatal("it is accepted")
			}
			for _, says := range tc.says {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("want %q in:\n%v", says, err)
				}
			}
		})
	}
}

// Parse survives any input, and accepts only valid scenarios.
func FuzzParse(f *testing.F) {
	f.Add([]byte(right))
	f.Add(builtin)
	f.Add([]byte("scenarios: [{name: a, about: b, kind: walk, mix: {\"*.list\": 1}, clients: 1, duration: 1s}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := Parse("fuzz.yaml", data)
		if err != nil {
			return
		}
		if len(all) == 0 {
			t.Fatal("no error and no scenario")
		}
		for _, s := range all {
			if err := s.Check(); err != nil {
				t.Errorf("accepted, and yet: %v", err)
			}
			if !slices.Contains(Kinds(), s.Kind) {
				t.Errorf("accepted the kind %q", s.Kind)
			}
		}
	})
}

// Scenarios run in the order in which they were named. A setting changes all
// scenarios that have it.
func TestSelectAndOverride(t *testing.T) {
	g := NewWithT(t)
	picked, err := Select(Builtin(), []string{"walk", "soak"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(Names(picked)).To(Equal([]string{"walk", "soak"}))

	rate := Setting{"--rate", "rate", 7.0}
	burst := Setting{"--burst", "burst", 9.0}
	changed, err := Override(picked, rate)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(changed[0].Rate).To(BeZero(), "a walk has no rate")
	g.Expect(changed[1].Rate).To(Equal(7.0))
	g.Expect(picked[1].Rate).NotTo(Equal(7.0), "the original is not changed")

	_, err = Override(picked, burst)
	g.Expect(err).To(MatchError("--burst: no selected scenario has this setting (walk, soak)"))
	_, err = Override(picked, Setting{"--rate", "rate", -1.0})
	g.Expect(err).To(MatchError(HavePrefix("scenario soak: rate: -1: want ")))

	g.Expect(Select(Builtin(), nil)).To(HaveLen(len(Builtin())))
	_, err = Select(Builtin(), []string{"walks"})
	g.Expect(err).To(MatchError(HavePrefix("walks: unknown scenario (did you mean walk?) (known: list-throughput, ")))
}

// printedFirst are the percentiles that the first table of a load run always shows.
var printedFirst = []float64{0.5, 0.95, 0.99}

// leastBeyond is how many planned requests lie beyond such a percentile. Its interval then
// ends well before the slowest response.
const leastBeyond = 10

// The default scenarios plan enough requests for each percentile of their first table.
func TestDefaultPlansAreConclusive(t *testing.T) {
	for _, s := range Builtin() {
		each, planned := s.Schedule()
		if !planned {
			continue
		}
		phase := load.Phase{Planned: each.Planned()}
		for _, p := range printedFirst {
			if beyond := int64((1 - p) * float64(phase.Planned)); !phase.Supports(p) || beyond < leastBeyond {
				t.Errorf("%s: %d of the %d planned requests lie beyond p%v, want at least %d", s.Name, beyond, phase.Planned, 100*p, leastBeyond)
			}
		}
	}
}

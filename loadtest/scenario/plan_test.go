package scenario

import (
	"slices"
	"testing"

	"outreach.example/conformance/loadtest/threshold"
	"outreach.example/conformance/spec"
)

// Every kind but rate-limit has the figures of phases; its requests are meant
// to be refused. Figures of a whole scenario belong to one kind. A threshold
// that names a scenario applies to that one only.
func TestWhichKindsHaveAFigure(t *testing.T) {
	phases := []Kind{Steady, Spike, Soak, Sustained, Depth, Walk}
	for text, kinds := range map[string][]Kind{
		"p99<1s":                    phases,
		"max<1s":                    phases,
		"errors<1%":                 phases,
		"limited<1%":                phases,
		"worse<10%":                 phases,
		"p99<1s@50/s":               phases,
		"[lead-lists.list]: p99<1s": phases,
		"sustained>=10/s":           {Sustained},
		"depth<3x":                  {Depth},
		"mine: p99<1s":              phases,
		"mine: sustained>=10/s":     {Sustained},
		"others: p99<1s":            nil,
		"others: depth<3x":          nil,
	} {
		bound, err := threshold.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range Kinds() {
			if got, want := (Scenario{Name: "mine", Kind: kind}).Has(bound), slices.Contains(kinds, kind); got != want {
				t.Errorf("%s of a scenario of kind %s: %t, want %t", text, kind, got, want)
			}
		}
	}
}

// The labels of a scenario's requests and the rates of its phases are known in
// advance if they do not depend on the target.
func TestWhatAScenarioAsksAndHowFast(t *testing.T) {
	lists := map[string]int{spec.ListLeadLists: 1, spec.ListPhoneNumbers: 1}
	for name, tc := range map[string]struct {
		scenario       Scenario
		asks, asksNot  []string
		runsAt, runNot []float64
	}{
		"steady": {Scenario{Kind: Steady, Mix: lists, Limits: []int{1, 10}, Rate: 50},
			[]string{"lead-lists.list", "lead-lists.list limit=10", "phone-numbers.list"}, []string{"lead-lists", "lead-lists.list limit=100", "phone-numbers.list limit=1", "webhook-events.list"},
			[]float64{50}, []float64{49, 100}},
		"without page sizes": {Scenario{Kind: Soak, Mix: lists, Rate: 50}, []string{"lead-lists.list"}, []string{"lead-lists.list limit=0"}, []float64{50}, nil},
		"depth": {Scenario{Kind: Depth, Mix: map[string]int{spec.ListLeadLists: 1}, Limits: []int{1}, Pages: []int{1, 10}, Rate: 50},
			[]string{"lead-lists.list", "lead-lists.list page=10", "lead-lists.list page=257"}, []string{"lead-lists.list limit=1", "webhook-events.list page=1"}, []float64{50}, nil},
		"sustained": {Scenario{Kind: Sustained, Mix: lists, Rate: 50, MaxRate: 100}, []string{"lead-lists.list"}, nil, []float64{50, 100}, []float64{33, 101}},
		"spike":     {Scenario{Kind: Spike, Mix: lists, Rate: 50, Burst: 100}, []string{"lead-lists.list"}, nil, nil, []float64{50, 100}},
	} {
		for _, label := range append(tc.asks, tc.asksNot...) {
			if got, want := tc.scenario.Asks(label), slices.Contains(tc.asks, label); got != want {
				t.Errorf("%s asks %q: %t", name, label, got)
			}
		}
		for _, rate := range append(tc.runsAt, tc.runNot...) {
			if got, want := tc.scenario.RunsAt(rate), slices.Contains(tc.runsAt, rate); got != want {
				t.Errorf("%s runs at %v/s: %t", name, rate, got)
			}
		}
	}
}

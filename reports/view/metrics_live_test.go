package view_test

import (
	"encoding/json"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"pgregory.net/rapid"

	"outreach.example/conformance/reports/console"
	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/reports/view"
)

func live(t *testing.T) map[string]*dto.MetricFamily {
	t.Helper()
	body := view.LiveMetrics(time.Unix(1_700_000_000, 0), []console.LoadFigures{
		{Scenario: "soak", Phase: "warm-up", Warmup: true, Planned: 10, Sent: 10, Accepted: 10, AskedPerSecond: 5, P50MS: 1, P99MS: 2},
		{Scenario: "soak", Phase: "soak", At: 90 * time.Second, Planned: 600, Sent: 450, InFlight: 3, Accepted: 440, Limited: 5, Failed: 2,
			AskedPerSecond: 5, DonePerSecond: 4, P50MS: 12.345678, P99MS: 90, LagP99MS: 0.5},
	})
	for _, line := range []string{
		`outreach_load_run_start_timestamp_seconds 1.7e+09`,
		`outreach_load_requests_total{scenario="soak",phase="soak",warmup="false",what="sent"} 450.0`,
		`outreach_load_live_answers_total{scenario="soak",phase="soak",warmup="false",class="limited"} 5.0`,
		`outreach_load_live_response_milliseconds{scenario="soak",phase="soak",warmup="false",quantile="0.99"} 90.0`,
		`outreach_load_live_in_flight_requests{scenario="soak",phase="soak",warmup="false"} 3.0`,
		`outreach_load_live_phase_seconds{scenario="soak",phase="soak",warmup="false"} 90.0`,
	} {
		if !strings.Contains(body, line+"\n") {
			t.Errorf("no line %s in\n%s", line, body)
		}
	}
	if strings.Contains(body, `asked_per_second{scenario="soak",phase="warm-up"`) {
		t.Error("a phase that ended has a rate of the last second")
	}
	return parsed(t, []byte(body))
}

// A figure that metrics.txt also has keeps its name and labels; all others are marked.
func TestLiveFiguresHaveTheNamesOfTheFinalOnes(t *testing.T) {
	body, err := rendered(view.Formats["openmetrics"].Load, sample.FullLoad())
	if err != nil {
		t.Fatal(err)
	}
	final := parsed(t, body)
	shared := 0
	for name, family := range live(t) {
		also := final[name]
		if strings.HasPrefix(name, "outreach_load_live_") {
			if also != nil {
				t.Errorf("%s is in metrics.txt too", name)
			}
			continue
		}
		if also == nil {
			t.Errorf("metrics.txt lacks %s", name)
			continue
		}
		shared++
		if !slices.Equal(labelsOf(family), labelsOf(also)) || family.GetType() != also.GetType() {
			t.Errorf("%s has the labels %q, in metrics.txt %q", name, labelsOf(family), labelsOf(also))
		}
	}
	if shared < 2 {
		t.Errorf("%d figures are shared", shared)
	}
}

func labelsOf(family *dto.MetricFamily) []string {
	var names []string
	for _, pair := range family.Metric[0].Label {
		names = append(names, pair.GetName())
	}
	return names
}

var (
	selector = regexp.MustCompile(`(outreach_load_\w+)(?:\{([^}]*)\})?`)
	matcher  = regexp.MustCompile(`(\w+)=~?"([^"]*)"`)
	legend   = regexp.MustCompile(`\{\{(\w+)\}\}`)
)

// Each query of the dashboard finds what a run serves.
func TestTheDashboardAsksForWhatThereIs(t *testing.T) {
	text, err := os.ReadFile("../../docs/grafana-dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			ID      int
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
		Templating struct {
			List []struct{ Name, Definition string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	served, asked := live(t), map[string]bool{}
	var queries []string
	ids := map[int]bool{}
	for _, p := range dashboard.Panels {
		if ids[p.ID] || p.Title == "" || len(p.Targets) == 0 {
			t.Errorf("panel %d %q: not unique, or without a title or a query", p.ID, p.Title)
		}
		ids[p.ID] = true
		for _, target := range p.Targets {
			queries = append(queries, target.Expr)
			for _, label := range legend.FindAllStringSubmatch(target.LegendFormat, -1) {
				family := served[selector.FindStringSubmatch(target.Expr)[1]]
				if family == nil || !slices.Contains(labelsOf(family), label[1]) {
					t.Errorf("%s: no label %s in %s", p.Title, label[1], target.Expr)
				}
			}
		}
	}
	for _, v := range dashboard.Templating.List {
		if v.Definition != "" {
			queries = append(queries, v.Definition)
		}
	}
	for _, query := range queries {
		found := selector.FindAllStringSubmatch(query, -1)
		if len(found) == 0 {
			t.Errorf("no metric of ours in %s", query)
		}
		for _, one := range found {
			asked[one[1]] = true
			if !finds(served[one[1]], one[2]) {
				t.Errorf("a run serves nothing for %s", one[0])
			}
		}
	}
	for name := range served {
		if !asked[name] {
			t.Errorf("the dashboard leaves out %s", name)
		}
	}
}

// finds reports whether a series of the family matches. Prometheus adds the label job;
// variables begin with $.
func finds(family *dto.MetricFamily, matchers string) bool {
	if family == nil {
		return false
	}
	return slices.ContainsFunc(family.Metric, func(m *dto.Metric) bool {
		for _, want := range matcher.FindAllStringSubmatch(matchers, -1) {
			if want[1] == "job" {
				continue
			}
			if !slices.ContainsFunc(m.Label, func(l *dto.LabelPair) bool {
				return l.GetName() == want[1] && (strings.HasPrefix(want[2], "$") || l.GetValue() == want[2])
			}) {
				return false
			}
		}
		return true
	})
}

// Whatever the figures and the names are, Prometheus can read them.
func TestLiveFiguresCanBeRead(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		figure := rapid.OneOf(rapid.Float64(), rapid.Just(math.Inf(1)), rapid.Just(math.NaN()))
		phases := rapid.SliceOfNDistinct(rapid.Custom(func(r *rapid.T) console.LoadFigures {
			return console.LoadFigures{Scenario: rapid.String().Draw(r, "scenario"), Phase: rapid.String().Draw(r, "phase"), Sent: rapid.Int64().Draw(r, "sent"),
				AskedPerSecond: figure.Draw(r, "asked"), P50MS: figure.Draw(r, "p50"), P99MS: figure.Draw(r, "p99"), LagP99MS: figure.Draw(r, "lag")}
		}), 0, 5, func(p console.LoadFigures) string { return p.Scenario + "\x00" + p.Phase }).Draw(r, "phases")
		body := view.LiveMetrics(time.Unix(0, 0), phases)
		parsed(t, []byte(body))
	})
}

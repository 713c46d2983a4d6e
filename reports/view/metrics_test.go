package view_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/view"
)

func metricSamples() map[string]load.Results {
	twice := sample.FullLoad()
	twice.Scenarios = append(twice.Scenarios, twice.Scenarios...)
	twice.Scenarios[0].Phases = append(twice.Scenarios[0].Phases, twice.Scenarios[0].Phases...)
	return map[string]load.Results{"full": sample.FullLoad(), "hostile": hostileLoad(), "passed": sample.PassedLoad(), "empty": sample.EmptyLoad(), "twice": twice}
}

// parsed parses the text. Without its end marker it is valid in the Prometheus text
// format.
func parsed(t *testing.T, body []byte) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(body))
	if err != nil {
		t.Fatalf("%v in\n%.2000s", err, body)
	}
	return families
}

func TestEveryRunCanBeReadBack(t *testing.T) {
	for name, r := range metricSamples() {
		t.Run(name, func(t *testing.T) {
			body, err := rendered(view.Formats["openmetrics"].Load, r)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.HasSuffix(body, []byte("\n# EOF\n")) || !utf8.Valid(body) {
				t.Error("no end marker, or not UTF-8")
			}
			again, err := rendered(view.Formats["openmetrics"].Load, r)
			if err != nil || !bytes.Equal(body, again) {
				t.Errorf("the order is not stable (%v)", err)
			}
			parsed(t, body)
			series := map[string]bool{}
			for line := range strings.Lines(string(body)) {
				if strings.HasPrefix(line, "#") {
					continue
				}
				id := line[:strings.LastIndex(line, " ")]
				if series[id] {
					t.Errorf("twice: %s", id)
				}
				series[id] = true
				if !strings.HasPrefix(id, "outreach_load_") {
					t.Errorf("a name of another's: %s", id)
				}
			}
		})
	}
}

func TestFiguresHaveTheUnitsOfTheReports(t *testing.T) {
	body, err := rendered(view.Formats["openmetrics"].Load, sample.FullLoad())
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`outreach_load_verdict{verdict="fail"} 1.0`,
		`outreach_load_verdict{verdict="pass"} 0.0`,
		`outreach_load_scenario_verdict{scenario="soak",verdict="inconclusive"} 1.0`,
		`outreach_load_requests_total{scenario="soak",phase="200/s",warmup="false",what="dropped"} 9.0`,
		`outreach_load_answers_total{scenario="soak",phase="200/s",warmup="false",status="none"} 2.0`,
		`outreach_load_response_milliseconds{scenario="soak",phase="200/s",warmup="false",class="failed",quantile="0.5"} 10000.0`,
		`outreach_load_response_milliseconds_count{scenario="list-throughput",phase="500/s",warmup="false",class="accepted"} 15000`,
		`outreach_load_threshold{scenario="soak",threshold="errors<0.1%",outcome="inconclusive"} 1.0`,
		`outreach_load_violations_total{scenario="walk",requirement="PAGE-WALK-01",operation="campaigns.list"} 3.0`,
		`outreach_load_sustained_per_second{scenario="sustained-rate"} 820.0`,
		`outreach_load_limiter_window_seconds{scenario="rate-limit",layer="1",kind="fixed-window"} 1.0`,
		`outreach_load_generator_lag_p99_milliseconds 0.62`,
		`outreach_load_comparison_ratio{figure="response p99",bound="high"} 1.73`,
		`outreach_load_page_milliseconds{scenario="page-depth",operation="lead-lists.list",page="10",quantile="0.5"} 19.0`,
	} {
		if !strings.Contains(string(body), line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
	if strings.Contains(string(body), `layer="2",kind="",`) || strings.Contains(string(body), `limiter_window_seconds{scenario="rate-limit",layer="2"`) {
		t.Error("what is inconclusive has a figure")
	}
}

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "made", "load.prom")
	if err := view.Formats["openmetrics"].Load.Write(path, sample.PassedLoad()); err != nil {
		t.Fatal(err)
	}
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	parsed(t, body)
}

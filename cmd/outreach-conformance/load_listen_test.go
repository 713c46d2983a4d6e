package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"outreach.example/conformance/reports/console"
	"outreach.example/conformance/reports/view"
)

// scraped returns what Prometheus reads at the address.
func scraped(t *testing.T, address string) map[string]*dto.MetricFamily {
	t.Helper()
	response, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body := must[[]byte](t)(io.ReadAll(response.Body))
	if got := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || got != view.MetricsType || !strings.HasSuffix(string(body), "# EOF\n") {
		t.Fatalf("%d, %s: %s", response.StatusCode, got, body)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return must[map[string]*dto.MetricFamily](t)(parser.TextToMetricFamilies(strings.NewReader(string(body))))
}

// Whoever watches a run sees its figures while it goes on, and not afterwards.
func TestALoadCanBeWatched_long(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	base, reached := reachedAfter(t, 200)
	p := begunWithout(t, command(t, nil, loadCommand, "--target", base, "--lag-limit", "1h", "--listen", "0", "--scenario", "soak", "--duration", "10m", "--warmup", "10ms"))
	p.awaits(reached)
	found := regexp.MustCompile(`live metrics at (http://127\.0\.0\.1:\d+/metrics)\n`).FindSubmatch(p.output.bytes())
	g.Expect(found).NotTo(BeNil(), "%s", p.output.bytes())
	address := string(found[1])
	g.Eventually(func() float64 {
		total := 0.0
		if family := scraped(t, address)["outreach_load_requests_total"]; family != nil {
			for _, m := range family.Metric {
				for _, label := range m.Label {
					if label.GetName() == "what" && label.GetValue() == "sent" {
						total += m.GetUntyped().GetValue() + m.GetCounter().GetValue()
					}
				}
			}
		}
		return total
	}).WithTimeout(patience).Should(BeNumerically(">", 100))
	g.Expect(p.end(t, syscall.SIGINT)).To(Equal(exitInterrupted), "%s", p.output.bytes())
	_, err := http.Get(address)
	g.Expect(err).To(HaveOccurred())
}

// A phase that is repeated replaces itself, and old phases give way.
func TestLiveMetricsAreBounded(t *testing.T) {
	g := NewWithT(t)
	m := &liveMetrics{started: time.Unix(1, 0)}
	server := httptest.NewServer(m.handler())
	t.Cleanup(server.Close)
	g.Expect(scraped(t, server.URL+metricsPath)).To(HaveLen(1))
	for i := range 2 * mostLivePhases {
		m.show(console.LoadFigures{Scenario: "s", Phase: "p" + strconv.Itoa(i), Sent: 1, P99MS: 2})
		m.show(console.LoadFigures{Scenario: "s", Phase: "p" + strconv.Itoa(i), Sent: 2, P99MS: 2})
	}
	families := scraped(t, server.URL+metricsPath)
	g.Expect(families["outreach_load_requests_total"].Metric).To(HaveLen(2 * mostLivePhases))
	g.Expect(families["outreach_load_live_response_milliseconds"].Metric).To(HaveLen(2), "of the phase that runs")
	response := must[*http.Response](t)(http.Post(server.URL+metricsPath, "text/plain", nil))
	g.Expect(response.Body.Close()).To(Succeed())
	g.Expect(response.StatusCode).To(Equal(http.StatusMethodNotAllowed))
	var none *liveMetrics
	none.show(console.LoadFigures{})
	g.Expect(none.stop()).To(Succeed())
}

func TestListenAddresses(t *testing.T) {
	for given, want := range map[string]string{
		"9464": "127.0.0.1:9464", ":9464": "127.0.0.1:9464", "0.0.0.0:1": "0.0.0.0:1", "[::1]:0": "[::1]:0", "localhost:80": "localhost:80",
		"x": "", "": "", "1.2.3.4": "", "::1": "", "127.0.0.1:": "", "127.0.0.1:65536": "", "127.0.0.1:-1": "", "127.0.0.1:http": "", "http://127.0.0.1:1": "", ":01": "",
	} {
		got, err := listenAddress(given)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", given, got, err, want)
		}
	}
	taken := must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	t.Cleanup(func() { _ = taken.Close() })
	_, err := listen(t.Context(), taken.Addr().String())
	NewWithT(t).Expect(err).To(MatchError(And(HavePrefix("--listen: "), HaveSuffix("(choose a free port of this machine)"))))
}

// An address that is none, and an unknown encoding, are errors before anything is sent.
func TestLoadRejectsWhatItCannotServeOrWrite(t *testing.T) {
	for want, args := range map[string][]string{
		`--listen "1.2.3.4": no address and port`:           {"--listen", "1.2.3.4"},
		`--raw=csv: unknown encoding (want vegeta or jsonl`: {"--raw=csv"},
	} {
		e := exitsWith(t, exitUsage, nil, append([]string{loadCommand, "--scenario", "mixed"}, args...)...)
		NewWithT(t).Expect(e.stderr).To(ContainSubstring(want))
	}
}

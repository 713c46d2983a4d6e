package view

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// A phase that is repeated replaces itself, and old phases give way.
func TestMetricsServer(t *testing.T) {
	g := NewWithT(t)
	m, err := ServeMetrics(t.Context(), "0")
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(m.Close)
	for i := range 2 * mostLivePhases {
		for sent := range int64(2) {
			m.Show(LoadFigures{Scenario: "s", Phase: "p" + strconv.Itoa(i), Sent: sent, P99MS: 2})
		}
	}
	response, err := http.Get(m.Address)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(strings.Count(string(text), `what="sent"} 1.0`)).To(Equal(mostLivePhases))
	_, err = ServeMetrics(t.Context(), strings.TrimSuffix(strings.TrimPrefix(m.Address, "http://"), metricsPath))
	g.Expect(err).To(MatchError(And(HavePrefix("--listen: "), HaveSuffix("(choose a free port of this machine)"))))
	var none *MetricsServer
	none.Show(LoadFigures{})
	none.Close()
}

func TestListenAddresses(t *testing.T) {
	for given, want := range map[string]string{
		"9464": "127.0.0.1:9464", ":9464": "127.0.0.1:9464", "0.0.0.0:1": "0.0.0.0:1", "[::1]:0": "[::1]:0", "localhost:80": "localhost:80",
		"x": "", "": "", "1.2.3.4": "", "::1": "", "127.0.0.1:": "", "127.0.0.1:65536": "", "127.0.0.1:-1": "", "http://127.0.0.1:1": "", ":01": "",
	} {
		if got, err := listenAddress(given); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", given, got, err, want)
		}
	}
}

//go:build !race

// Times under the race detector say nothing. Without this file, make race need not compile
// fasthttp and the compression that it brings.

package generate

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/valyala/fasthttp"
)

// fastTransport is fasthttp's client as an http.RoundTripper.
type fastTransport struct {
	client *fasthttp.HostClient
}

func newFastTransport(base string, timeout time.Duration) (fastTransport, error) {
	u, err := url.Parse(base)
	if err != nil {
		return fastTransport{}, err
	}
	return fastTransport{&fasthttp.HostClient{
		Addr: u.Host, MaxConns: DefaultWorkers, MaxIdleConnDuration: maxIdle, ReadTimeout: timeout, WriteTimeout: timeout,
		NoDefaultUserAgentHeader: true, DisablePathNormalizing: true, StreamResponseBody: true,
	}}, nil
}

// RoundTrip implements http.RoundTripper.
func (t fastTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	request, answer := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(request)
	request.Header.SetMethod(r.Method)
	request.SetRequestURI(r.URL.String())
	for name, values := range r.Header {
		for _, value := range values {
			request.Header.Add(name, value)
		}
	}
	if r.Body != nil {
		return nil, errors.New("the benchmark sends no bodies")
	}
	if err := t.client.Do(request, answer); err != nil {
		fasthttp.ReleaseResponse(answer)
		return nil, err
	}
	header := http.Header{}
	for name, value := range answer.Header.All() {
		header.Add(string(name), string(value))
	}
	stream := answer.BodyStream()
	if stream == nil {
		stream = bytes.NewReader(answer.Body())
	}
	return &http.Response{StatusCode: answer.StatusCode(), Header: header, ContentLength: int64(answer.Header.ContentLength()), Body: fastBody{stream, answer}, Request: r}, nil
}

type fastBody struct {
	io.Reader
	answer *fasthttp.Response
}

func (b fastBody) Close() error {
	err := b.answer.CloseBodyStream()
	fasthttp.ReleaseResponse(b.answer)
	return err
}

// The clients that TestTransports compares.
const (
	netHTTP   = "net/http"
	fastHTTP  = "fasthttp"
	rawVegeta = "raw Vegeta, bodies kept"
)

// transportFlag is the role of transportClient. Its arguments are address, rate and transport.
const transportFlag = "transport-client"

func init() {
	roles[transportFlag] = func(args []string) error { return clientProcess(transportClient(args[2]), args) }
}

var transportRounds = flag.Int("transports", 0, "how many rounds to compare the transports in; 0: not at all")

// transportClient checks each page, like checkingClient, over the named transport.
func transportClient(name string) func(base string, rate float64, u *usage) error {
	return func(base string, rate float64, u *usage) error {
		opts := Options{BaseURL: base}
		if name == fastHTTP {
			fast, err := newFastTransport(base, DefaultTimeout)
			if err != nil {
				return err
			}
			opts.Transport = fast
		}
		return checkPages(opts, rate, u)
	}
}

// TestTransports prints the processor time and the memory of a request over each
// transport, with every 62 KB page checked, beside raw Vegeta's. Each client runs in
// a process of its own, in turns. The generator uses net/http. It would take another
// transport, or one of its own, only if net/http cost over 30 % more. Run it with
// make nightly.
func TestTransports(t *testing.T) {
	if *transportRounds == 0 {
		t.Skip("make nightly compares the transports")
	}
	base := pageServer(t)
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(table, "requests/s\ttransport\tCPU µs/request\t× net/http\t× raw Vegeta\tMB resident\tp99 lag ms\t")
	for _, rate := range []int{500, 2500} {
		compareTransports(t, table, base, rate)
	}
	_ = table.Flush()
}

// compareTransports writes a line for each transport: medians of the rounds.
func compareTransports(t *testing.T, table io.Writer, base string, rate int) {
	names := []string{netHTTP, fastHTTP, rawVegeta}
	times, resident, lags := map[string][]float64{}, map[string][]float64{}, map[string][]float64{}
	for round := range *transportRounds {
		for i := range names {
			name := names[(i+round)%len(names)]
			role := transportFlag
			if name == rawVegeta {
				role = vegetaFlag
			}
			u := clientUsage(t, role, base, rate, name)
			times[name] = append(times[name], float64(u.CPU.Microseconds())/float64(u.Sent))
			resident[name] = append(resident[name], float64(u.Peak)/megabyte)
			lags[name] = append(lags[name], u.Lag.Seconds()*1000)
		}
	}
	for _, name := range names {
		over := func(other string) float64 {
			var ratios []float64
			for i, time := range times[name] {
				ratios = append(ratios, time/times[other][i])
			}
			return median(ratios)
		}
		lag := "unknown"
		if name != rawVegeta {
			lag = fmt.Sprintf("%.1f", median(lags[name]))
		}
		_, _ = fmt.Fprintf(table, "%d\t%s\t%.0f\t%.2f\t%.2f\t%.0f\t%s\t\n", rate, name,
			median(slices.Clone(times[name])), over(netHTTP), over(rawVegeta), median(resident[name]), lag)
	}
}

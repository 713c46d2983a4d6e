//go:build !race

// Times under the race detector say nothing. Without this file, make race need not compile
// fasthttp and the compression that it brings.

package generate

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
	"github.com/valyala/fasthttp"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/loadtest/inspect"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/spec"
)

// fastTransport is fasthttp's client as an http.RoundTripper.
type fastTransport struct{ client *fasthttp.HostClient }

// RoundTrip implements http.RoundTripper.
func (t fastTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	request, answer := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(request)
	request.Header.SetMethod(r.Method)
	request.SetRequestURI(r.URL.String())
	for name, values := range r.Header {
		request.Header.Add(name, values[0])
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

const (
	pagePath   = "/api/v2/webhook-events?limit=76" // 62 KB
	clientFor  = 3 * time.Second
	pageServer = "page-server" // no arguments
	pageClient = "page-client" // transport, address, rate

	// The clients that TestTransports compares.
	netHTTP   = "net/http"
	fastHTTP  = "fasthttp"
	rawVegeta = "raw Vegeta, bodies kept"
)

func init() {
	roles[pageServer] = func([]string) error {
		data, err := dataset.New(dataset.DefaultOptions())
		if err != nil {
			return err
		}
		server, err := refserver.New(data, refserver.Options{})
		if err != nil {
			return err
		}
		r, page := httptest.NewRequest(http.MethodGet, pagePath, nil), httptest.NewRecorder()
		for _, k := range data.Keys {
			if k.Name == dataset.Main {
				r.Header.Set("Authorization", "Bearer "+k.Token)
			}
		}
		if server.Handler().ServeHTTP(page, r); page.Code != http.StatusOK {
			return errors.New(page.Body.String())
		}
		return NullServer(page.Body.Bytes(), os.Stdout, os.Stdin)
	}
	roles[pageClient] = func(args []string) error {
		rate, err := strconv.ParseFloat(args[2], 64)
		if err != nil {
			return err
		}
		u := usage{}
		if args[0] == rawVegeta {
			err = u.keepPages(args[1], int(rate))
		} else {
			err = u.checkPages(args[0] == fastHTTP, args[1], rate)
		}
		status, _ := os.ReadFile("/proc/self/status") // getrusage's peak would include the parent's
		if _, after, found := strings.Cut(string(status), "VmHWM:"); found {
			u.PeakKB, _ = strconv.ParseInt(strings.Fields(after)[0], 10, 64)
		}
		return errors.Join(err, json.NewEncoder(os.Stdout).Encode(u))
	}
}

// usage is what a client process reports about itself.
type usage struct {
	Sent, Wrong, PeakKB int64
	CPU, Lag            time.Duration // of the whole process while it sent; 99th percentile
}

// checkPages loads the server with the generator, and checks each page.
func (u *usage) checkPages(fast bool, base string, rate float64) error {
	rules, err := judge.NewRules()
	if err != nil {
		return err
	}
	in, err := inspect.New(inspect.Options{Rules: rules})
	if err != nil {
		return err
	}
	opts := Options{BaseURL: base}
	if fast {
		u, err := url.Parse(base)
		if err != nil {
			return err
		}
		opts.Transport = fastTransport{&fasthttp.HostClient{Addr: u.Host, MaxConns: DefaultWorkers, MaxIdleConnDuration: maxIdle, ReadTimeout: DefaultTimeout, WriteTimeout: DefaultTimeout,
			NoDefaultUserAgentHeader: true, DisablePathNormalizing: true, StreamResponseBody: true}}
	}
	g, err := New(opts)
	if err != nil {
		return err
	}
	asked := judge.Request{Operation: spec.MustOperation(spec.ListWebhookEvents), Allowed: client.Only(http.StatusOK)}
	before, _ := processorTime()
	r, _, err := g.Run(context.Background(), Phase{Name: "pages", Schedule: measure.Constant(rate, clientFor), Inspect: in.Take,
		Mix: func(uint64) Request { return Request{Label: "page", Path: pagePath, Asked: asked} }})
	in.Close()
	after, _ := processorTime()
	u.Sent, u.CPU, u.Lag = r.Sent, after-before, r.Lag.Value(0.99)
	for _, c := range in.Result().Checks {
		u.Wrong += int64(c.ViolationCount)
	}
	return err
}

// keepPages is Vegeta as its documentation shows it.
func (u *usage) keepPages(base string, rate int) error {
	targets := vegeta.NewStaticTargeter(vegeta.Target{Method: http.MethodGet, URL: base + pagePath})
	before, _ := processorTime()
	var metrics vegeta.Metrics
	for r := range vegeta.NewAttacker().Attack(targets, vegeta.Rate{Freq: rate, Per: time.Second}, clientFor, "pages") {
		metrics.Add(r)
	}
	metrics.Close()
	after, _ := processorTime()
	u.Sent, u.CPU, u.Wrong = int64(metrics.Requests), after-before, int64(len(metrics.Errors))
	return nil
}

var transportRounds = flag.Int("transports", 0, "how many rounds to compare the transports in; 0: not at all")

// TestTransports prints the processor time and the memory of a request over each
// transport, with every 62 KB page checked, beside raw Vegeta's. Each client runs in
// a process of its own, in turns. The generator uses net/http. It would take another
// transport, or one of its own, only if net/http cost over 30 % more. Run it with
// make nightly.
func TestTransports(t *testing.T) {
	if *transportRounds == 0 {
		t.Skip("make nightly compares the transports")
	}
	command := testbed.Again(t, pageServer)
	server := exec.Command(command[0], command[1:]...)
	stdin, inErr := server.StdinPipe()
	stdout, outErr := server.StdoutPipe()
	if err := errors.Join(inErr, outErr, server.Start()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = stdin.Close()
		_ = server.Wait()
	}()
	base, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(table, "requests/s\ttransport\tCPU µs/request\t× net/http\t× raw Vegeta\tMB resident\tp99 lag ms\t")
	for _, rate := range []int{500, 2500} {
		compareTransports(t, table, strings.TrimSpace(base), rate)
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
			command := testbed.Again(t, pageClient, name, base, strconv.Itoa(rate))
			out, err := exec.Command(command[0], command[1:]...).Output()
			var u usage
			if err = errors.Join(err, json.Unmarshal(out, &u)); err != nil || u.Sent == 0 || u.Wrong > 0 {
				t.Fatalf("%s: %+v, %v", name, u, err)
			}
			times[name] = append(times[name], float64(u.CPU.Microseconds())/float64(u.Sent))
			resident[name], lags[name] = append(resident[name], float64(u.PeakKB)/1024), append(lags[name], u.Lag.Seconds()*1000)
		}
	}
	median := func(values []float64) float64 { return slices.Sorted(slices.Values(values))[len(values)/2] }
	for _, name := range names {
		over := func(other string) float64 {
			var ratios []float64
			for i, time := range times[name] {
				ratios = append(ratios, time/times[other][i])
			}
			return median(ratios)
		}
		_, _ = fmt.Fprintf(table, "%d\t%s\t%.0f\t%.2f\t%.2f\t%.0f\t%.1f\t\n", rate, name, median(times[name]), over(netHTTP), over(rawVegeta), median(resident[name]), median(lags[name]))
	}
}

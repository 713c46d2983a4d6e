package refserver

import (
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"testing"

	"outreach.example/conformance/fixtures/dataset"
)

const millionRows = 1_000_000

// millionEvents is a data set with a million webhook events in the main workspace.
func millionEvents() (*dataset.Data, error) {
	return dataset.New(dataset.Options{Seed: 1, Rows: 10, RowsOf: map[string]int{"webhook-events": millionRows}})
}

// million is a server of millionEvents.
var million = sync.OnceValues(func() (*Server, error) {
	data, err := millionEvents()
	if err != nil {
		return nil, err
	}
	return New(data, Options{})
})

func mainToken() string {
	for _, k := range seedData().Keys {
		if k.Name == dataset.Main {
			return k.Token
		}
	}
	panic("the data set has no main key")
}

// ask is one request over a real connection; it returns the body's length.
func ask(b *testing.B, url string) int64 {
	r, err := http.NewRequest("GET", url, nil)
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+mainToken())
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer answer.Body.Close()
	n, err := io.Copy(io.Discard, answer.Body)
	if err != nil || answer.StatusCode != 200 {
		b.Fatalf("status %d, %v", answer.StatusCode, err)
	}
	return n
}

// BenchmarkList compares a page of 100 among 1,000,000 rows with static bytes of
// the same size through the same HTTP stack, and page 1 with page 10,000.
func BenchmarkList(b *testing.B) {
	server, err := million()
	if err != nil {
		b.Fatal(err)
	}
	api := httptest.NewServer(server.Handler())
	defer api.Close()
	events := server.current.Load().byRole[dataset.Main].events.Snapshot()
	at := 0
	var last string
	for row := range events.Ascend(events.Start()) {
		if at++; at == millionRows-100 {
			last = row.ID
			break
		}
	}
	one := api.URL + BasePath + "/webhook-events?limit=100"
	size := ask(b, one)
	bytes := make([]byte, size)
	static := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, bytes) }))
	defer static.Close()
	for _, bc := range []struct{ name, url string }{
		{"static-bytes", static.URL},
		{"page-1", one},
		{"page-10000", one + "&starting_after=" + last},
	} {
		b.Run(bc.name, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				ask(b, bc.url)
			}
		})
	}
}

// BenchmarkListHandler is BenchmarkList without the network.
func BenchmarkListHandler(b *testing.B) {
	server, err := million()
	if err != nil {
		b.Fatal(err)
	}
	handler := server.Handler()
	for _, bc := range []struct{ name, query string }{
		{"limit-100", "limit=100"},
		{"limit-100-filtered", "limit=100&success=true"},
		{"no-match-scans-all", "limit=100&search=nobody"},
	} {
		b.Run(bc.name, func(b *testing.B) {
			r := httptest.NewRequest("GET", BasePath+"/webhook-events?"+bc.query, nil)
			r.Header.Set("Authorization", "Bearer "+mainToken())
			for b.Loop() {
				handler.ServeHTTP(discard{http.Header{}}, r)
			}
		})
	}
}

// discard is a ResponseWriter that keeps nothing.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}

// BenchmarkLoad makes and loads the million rows and reports what they take.
func BenchmarkLoad(b *testing.B) {
	heap := func() int64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	before := heap()
	var server *Server
	for b.Loop() {
		data, err := millionEvents()
		if err != nil {
			b.Fatal(err)
		}
		if server, err = New(data, Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(heap()-before)/millionRows, "heap-B/row")
	runtime.KeepAlive(server)
}

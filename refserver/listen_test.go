package refserver

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/refserver/limiter"
	"outreach.example/conformance/refserver/truth"
	"outreach.example/conformance/refserver/webhook"
)

func TestListenServeShutdown(t *testing.T) {
	s := start(t, Options{})
	if err := s.Serve(); err == nil {
		t.Error("Serve before Listen says nothing")
	}
	if err := s.Listen(t.Context(), "127.0.0.1:0", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	if err := s.Listen(t.Context(), "127.0.0.1:0", ""); err == nil {
		t.Error("a second Listen says nothing")
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	transport := &http.Transport{}
	client := &http.Client{Transport: transport}
	ask := func(method, url string) (status int, body string, header http.Header) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+s.token("main"))
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		bytes, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(bytes), answer.Header
	}
	for _, url := range []string{s.URL(), s.TruthURL()} {
		if status, body, _ := ask("GET", url+"/healthz"); status != 200 || body != `{"status":"ok"}` {
			t.Errorf("%s: %d %s", url, status, body)
		}
	}
	_, body, full := ask("GET", s.URL()+BasePath+"/lead-lists?limit=100")
	status, none, head := ask("HEAD", s.URL()+BasePath+"/lead-lists?limit=100")
	if status != 200 || none != "" || head.Get("Content-Length") != full.Get("Content-Length") || len(body) == 0 {
		t.Errorf("HEAD: %d %q with length %s, GET %s", status, none, head.Get("Content-Length"), full.Get("Content-Length"))
	}
	var report truth.Report
	if _, body, _ := ask("GET", s.TruthURL()+"/truth"); json.Unmarshal([]byte(body), &report) != nil || report.OpenConnections != 1 || report.Total != 2 {
		t.Errorf("truth %s", body)
	}
	if status, _, _ := ask("GET", s.TruthURL()+BasePath+"/lead-lists"); status != 404 {
		t.Errorf("the truth port answers the API with %d", status)
	}
	if status, _, _ := ask("GET", s.URL()+"/truth"); status != 404 {
		t.Errorf("the API port answers /truth with %d", status)
	}
	transport.CloseIdleConnections()
	for range 2 {
		if err := s.Shutdown(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-served; err != nil {
		t.Errorf("Serve returned %v", err)
	}
}

func TestListenSaysWhichPortIsTaken(t *testing.T) {
	first, second := start(t, Options{}), start(t, Options{})
	if err := first.Listen(t.Context(), "127.0.0.1:0", ""); err != nil {
		t.Fatal(err)
	}
	if first.TruthURL() != "" {
		t.Errorf("truth at %s", first.TruthURL())
	}
	taken := strings.TrimPrefix(first.URL(), "http://")
	if err := second.Listen(t.Context(), "127.0.0.1:0", taken); err == nil || !strings.Contains(err.Error(), "truth port") {
		t.Errorf("Listen on a taken truth port: %v", err)
	}
	if err := start(t, Options{}).Listen(t.Context(), taken, ""); err == nil || !strings.Contains(err.Error(), "API port") {
		t.Errorf("Listen on a taken API port: %v", err)
	}
	if err := first.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := first.listeners.api.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after Shutdown the port that was never served still accepts: %v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	id := func(n int) string { return sprint("01900000-0000-7000-8000-%012d", n) }
	rows := func(labels ...dataset.LeadLabel) dataset.Workspace {
		return dataset.Workspace{Role: "w", ID: id(1), LeadLabels: func(yield func(dataset.LeadLabel) bool) {
			for _, l := range labels {
				if !yield(l) {
					return
				}
			}
		}}
	}
	members := dataset.Workspace{Role: "w", ID: id(1), Members: func(yield func(dataset.WorkspaceMember) bool) {
		_ = yield(dataset.WorkspaceMember{ID: id(2), Email: "a@b.example"}) && yield(dataset.WorkspaceMember{ID: id(3), Email: "a@b.example"})
	}}
	data := func(w ...dataset.Workspace) *dataset.Data { return &dataset.Data{Workspaces: w} }
	key := dataset.Key{Name: "k", Token: "t", Workspace: "w"}
	for name, tc := range map[string]struct {
		data *dataset.Data
		opts Options
		says string
	}{
		"workspace id":           {data(dataset.Workspace{Role: "w", ID: "1"}), Options{}, "not a UUID"},
		"workspace twice":        {data(dataset.Workspace{Role: "w", ID: id(1)}, dataset.Workspace{Role: "w", ID: id(2)}), Options{}, "twice"},
		"row id":                 {data(rows(dataset.LeadLabel{ID: "x"})), Options{}, "w lead labels"},
		"rows out of order":      {data(rows(dataset.LeadLabel{ID: id(3)}, dataset.LeadLabel{ID: id(2)})), Options{}, "ascending"},
		"timestamps do not rise": {data(rows(dataset.LeadLabel{ID: id(2), Created: "2025"}, dataset.LeadLabel{ID: id(3), Created: "2025"})), Options{}, "timestamp_created"},
		"member's email twice":   {data(members), Options{}, "cursor"},
		"key of no workspace":    {&dataset.Data{Keys: []dataset.Key{key}}, Options{}, "role"},
		"key twice":              {&dataset.Data{Workspaces: []dataset.Workspace{rows()}, Keys: []dataset.Key{key, key}}, Options{}, "twice"},
		"limiter of nobody":      {data(rows()), Options{Limiters: map[string]limiter.Config{"x": {}}}, "limiter of x"},
		"limiter of nonsense":    {data(rows()), Options{Limiters: map[string]limiter.Config{"w": {Scope: "x"}}}, "unknown scope"},
		"subscriber":             {data(rows()), Options{Limiters: map[string]limiter.Config{}, Webhook: webhook.Config{URL: "x"}}, "not an http"},
	} {
		if tc.opts.Limiters == nil {
			tc.opts.Limiters = map[string]limiter.Config{}
		}
		if _, err := New(tc.data, tc.opts); err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v, want an error that says %q", name, err, tc.says)
		}
	}
	if _, err := New(data(rows()), Options{}); err == nil {
		t.Error("the default limiters name a role that the data lacks, and New says nothing")
	}
}

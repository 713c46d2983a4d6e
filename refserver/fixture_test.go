package refserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"outreach.example/conformance/fixtures/dataset"
)

// seedData is a data set of two pages a list, made once: nothing changes it.
var seedData = sync.OnceValue(func() *dataset.Data {
	data, err := dataset.New(dataset.Options{Seed: 1, Rows: 131})
	if err != nil {
		panic(err)
	}
	return data
})

// service is a reference server under test.
type service struct {
	t    testing.TB
	data *dataset.Data
	*Server
	api, truth http.Handler
}

func start(t testing.TB, opts Options) *service {
	t.Helper()
	server, err := New(seedData(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Shutdown(context.Background()) })
	return &service{t, seedData(), server, server.Handler(), server.TruthHandler()}
}

// in is the service with the failures of a sub-test charged to it.
func (s *service) in(t testing.TB) *service {
	in := *s
	in.t = t
	return &in
}

// workspace returns the seed of a workspace.
func (s *service) workspace(role string) dataset.Workspace {
	for _, w := range s.data.Workspaces {
		if w.Role == role {
			return w
		}
	}
	s.t.Fatalf("no workspace %q", role)
	return dataset.Workspace{}
}

// token returns the token of a key by its name.
func (s *service) token(name string) string {
	for _, k := range s.data.Keys {
		if k.Name == name {
			return k.Token
		}
	}
	s.t.Fatalf("no key %q", name)
	return ""
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// json decodes the body, which must be an object.
func (a answer) json(t testing.TB) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(a.body, &v); err != nil {
		t.Fatalf("status %d, body %.200s: %v", a.status, a.body, err)
	}
	return v
}

// do sends a request of a key, named without BasePath; body is nothing, a
// string as it is, or a value as JSON.
func (s *service) do(key, method, path string, body any) answer {
	s.t.Helper()
	r := httptest.NewRequest(method, BasePath+path, nil)
	switch b := body.(type) {
	case nil:
	case string:
		r = httptest.NewRequest(method, BasePath+path, strings.NewReader(b))
	default:
		text, err := json.Marshal(b)
		if err != nil {
			s.t.Fatal(err)
		}
		r = httptest.NewRequest(method, BasePath+path, bytes.NewReader(text))
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+s.token(key))
	}
	return send(s.api, r)
}

func send(h http.Handler, r *http.Request) answer {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	body, _ := io.ReadAll(w.Result().Body)
	return answer{w.Code, w.Result().Header, body}
}

// want fails unless the status is the expected one.
func (s *service) want(status int, a answer) answer {
	s.t.Helper()
	if a.status != status {
		s.t.Fatalf("status %d, want %d; body %.300s", a.status, status, a.body)
	}
	return a
}

// page is one page of a list, its rows as they came.
type page struct {
	Items []json.RawMessage `json:"items"`
	Next  *string           `json:"next_starting_after"`
}

func (s *service) page(key, path string) page {
	s.t.Helper()
	a := s.want(200, s.do(key, "GET", path, nil))
	var p page
	if err := json.Unmarshal(a.body, &p); err != nil || p.Items == nil {
		s.t.Fatalf("GET %s: %.200s: %v", path, a.body, err)
	}
	return p
}

// walk follows a list to its end and returns all rows and all cursors.
func (s *service) walk(key, path string) (rows, cursors []string) {
	s.t.Helper()
	join := "?"
	if strings.Contains(path, "?") {
		join = "&"
	}
	for next := path; ; {
		p := s.page(key, next)
		for _, item := range p.Items {
			rows = append(rows, string(item))
		}
		if p.Next == nil {
			return rows, cursors
		}
		if slices.Contains(cursors, *p.Next) {
			s.t.Fatalf("GET %s: the cursor %q came twice", path, *p.Next)
		}
		cursors = append(cursors, *p.Next)
		next = path + join + "starting_after=" + escape(*p.Next)
	}
}

func escape(value string) string {
	return strings.NewReplacer("+", "%2B", "&", "%26", "%", "%25", " ", "%20", "\"", "%22", "\\", "%5C", "<", "%3C", ">", "%3E").Replace(value)
}

// docs renders the rows that a filter of the test's own keeps.
func docs[R any](t testing.TB, rows iter.Seq[R], keep func(R) bool) []string {
	t.Helper()
	kept := []string{}
	for r := range rows {
		if keep == nil || keep(r) {
			doc, err := render(r)
			if err != nil {
				t.Fatal(err)
			}
			kept = append(kept, string(doc))
		}
	}
	return kept
}

// first returns the first row that a condition holds for.
func first[R any](t testing.TB, rows iter.Seq[R], is func(R) bool) R {
	t.Helper()
	for r := range rows {
		if is == nil || is(r) {
			return r
		}
	}
	t.Fatal("the data set has no such row")
	panic("unreachable")
}

// sameRows compares two lists of documents and names the first difference.
func sameRows(t testing.TB, what string, got, want []string) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("%s: row %d is\n%s\nwant\n%s", what, i, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d rows, want %d", what, len(got), len(want))
	}
}

// fails checks an error answer whole.
func (s *service) fails(a answer, status int) {
	s.t.Helper()
	s.want(status, a)
	body := a.json(s.t)
	if body["statusCode"] != float64(status) || body["error"] != http.StatusText(status) || body["message"] == "" || len(body) != 3 {
		s.t.Fatalf("error body %s", a.body)
	}
	if got := a.header.Get("Content-Type"); got != "application/json; charset=utf-8" {
		s.t.Fatalf("content type %q", got)
	}
}

const unknownID = "01900000-0000-7000-8000-00000000dead"

func get(s *service, path string) answer { return s.do("main", "GET", path, nil) }

func sprint(format string, args ...any) string { return fmt.Sprintf(format, args...) }

package runner

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// misleading stands before a server and answers creations with tests that the run did
// not create.
type misleading struct {
	t       *testing.T
	server  *target.Target
	victims []map[string]any // rows that existed before the run

	mu      sync.Mutex
	created int
	first   []byte            // the first response to a creation
	renamed map[string]string // the name that a row shows instead of its own, by id
	mislead func(m *misleading, r *http.Request, body []byte) *http.Response
}

func (m *misleading) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	op, id, _ := spec.MatchOperation(r.Method, r.URL.Path)
	if op.ID == spec.DeletePlacementTest && slices.ContainsFunc(m.victims, func(row map[string]any) bool { return row["id"] == id }) {
		if key, _ := m.server.Profile.FullKey(dataset.Main); r.Header.Get("Authorization") == "Bearer "+key.Token {
			m.t.Errorf("the run deletes the test %s, which existed before", id)
		}
	}
	if answer := m.mislead(m, r, body); answer != nil {
		return answer, nil
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && (op.ID == spec.GetPlacementTest || op.ID == spec.ListPlacementTests) {
		m.rename(answer)
	}
	return answer, err
}

// rename changes names in a response.
func (m *misleading) rename(answer *http.Response) {
	m.mu.Lock()
	defer m.mu.Unlock()
	text, _ := io.ReadAll(answer.Body)
	var body map[string]any
	if json.Unmarshal(text, &body) == nil && len(m.renamed) > 0 {
		rows, _ := body["items"].([]any)
		for _, row := range append(rows, any(body)) {
			one, _ := row.(map[string]any)
			id, _ := one["id"].(string)
			if name, ok := m.renamed[id]; ok {
				one["name"] = name
			}
		}
		text, _ = json.Marshal(body)
	}
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	answer.Header.Del("Content-Length")
}

// creates reports whether the request creates a test in the main workspace, and its number.
func (m *misleading) creates(r *http.Request) (n int, ok bool) {
	op, _, _ := spec.MatchOperation(r.Method, r.URL.Path)
	key, _ := m.server.Profile.FullKey(dataset.Main)
	if op.ID != spec.CreatePlacementTest || r.Header.Get("Authorization") != "Bearer "+key.Token {
		return 0, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.created++
	return m.created, true
}

func shown(r *http.Request, row map[string]any) *http.Response {
	text, _ := json.Marshal(row)
	return &http.Response{StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(text)), ContentLength: int64(len(text))}
}

func nameIn(body []byte) string {
	var sent struct{ Name any }
	_ = json.Unmarshal(body, &sent) // specs also send what is not JSON
	name, _ := sent.Name.(string)
	return name
}

// A run deletes only what it has provably created, whatever id a creation is answered
// with. It removes the rows that it did create, and says what may be left.
func TestRunDeletesOnlyItsOwnRows_long(t *testing.T) {
	everyThird := func(m *misleading, r *http.Request) (victim map[string]any, ok bool) {
		n, creates := m.creates(r)
		if i := n / 3; creates && n%3 == 0 && i < len(m.victims) { // each at most once
			return maps.Clone(m.victims[i]), true
		}
		return nil, false
	}
	for _, tc := range []struct {
		name    string
		mislead func(m *misleading, r *http.Request, body []byte) *http.Response
		broken  string // a requirement that fails on create
		trouble string
	}{
		{name: "an idempotent creation answers with a row that existed before", broken: "STATE-CREATE-NAME",
			mislead: func(m *misleading, r *http.Request, _ []byte) *http.Response {
				if victim, ok := everyThird(m, r); ok {
					return shown(r, victim)
				}
				return nil
			}},
		{name: "and it echoes the name", broken: "STATE-CREATE-NAME",
			mislead: func(m *misleading, r *http.Request, body []byte) *http.Response {
				if victim, ok := everyThird(m, r); ok {
					victim["name"] = nameIn(body)
					return shown(r, victim)
				}
				return nil
			}},
		{name: "and the row shows the name from then on", broken: "STATE-CREATE-NAME", trouble: "it may have existed before the run created any",
			mislead: func(m *misleading, r *http.Request, body []byte) *http.Response {
				if victim, ok := everyThird(m, r); ok {
					m.mu.Lock()
					defer m.mu.Unlock()
					id, _ := victim["id"].(string)
					victim["name"], m.renamed[id] = nameIn(body), nameIn(body)
					return shown(r, victim)
				}
				return nil
			}},
		{name: "the creation takes place, and its answer names another row", broken: "STATE-CREATE-NAME",
			mislead: func(m *misleading, r *http.Request, body []byte) *http.Response {
				if victim, ok := everyThird(m, r); ok {
					if answer, err := http.DefaultTransport.RoundTrip(r); err != nil || answer.StatusCode != http.StatusOK {
						return answer
					}
					return shown(r, victim)
				}
				return nil
			}},
		{name: "a cache answers with the first creation", broken: "STATE-CREATE-NAME", trouble: "another creation of the run received the same id",
			mislead: func(m *misleading, r *http.Request, body []byte) *http.Response {
				n, creates := m.creates(r)
				if !creates {
					return nil
				}
				m.mu.Lock()
				defer m.mu.Unlock()
				var row map[string]any
				if m.first != nil && n%3 == 0 {
					_ = json.Unmarshal(m.first, &row)
					return shown(r, row)
				}
				answer, err := http.DefaultTransport.RoundTrip(r)
				if err != nil {
					return nil
				}
				text, _ := io.ReadAll(answer.Body)
				if answer.Body = io.NopCloser(bytes.NewReader(text)); answer.StatusCode == http.StatusOK && m.first == nil {
					m.first = text
				}
				return answer
			}},
		{name: "a deletion is answered with 200 and deletes nothing", broken: "STATE-DELETE-GET", trouble: "answered its deletion with 200",
			mislead: func(m *misleading, r *http.Request, _ []byte) *http.Response {
				if op, _, _ := spec.MatchOperation(r.Method, r.URL.Path); op.ID != spec.DeletePlacementTest {
					return nil
				}
				get := r.Clone(r.Context())
				get.Method, get.Body = http.MethodGet, nil
				answer, _ := http.DefaultTransport.RoundTrip(get)
				return answer
			}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			server, journals := embedded(t), t.TempDir()
			before := ids(t, server)
			front := &misleading{t: t, server: server, victims: rowsOf(t, server), renamed: map[string]string{}, mislead: tc.mislead}
			results := judged(t, t.Context(), Config{Target: server, Transport: front, JournalDir: journals,
				Selection: Selection{Requirements: []string{"STATE-*", "META-*", "REQUEST-*"}, Operations: []string{"inbox-placement-tests.*"}}})
			g.Expect(results.Verdict).To(Equal(reports.Failed))
			g.Expect(of(results, reports.Fail)).To(ContainElement(HavePrefix(tc.broken)))
			after := ids(t, server)
			g.Expect(missing(before, after)).To(BeEmpty(), "rows that existed before")
			var said []string
			for _, trouble := range results.Troubles {
				said = append(said, trouble.What)
			}
			if tc.trouble == "" {
				g.Expect(missing(after, before)).To(BeEmpty(), "rows of the run that are left")
				g.Expect(said).To(BeEmpty())
			} else {
				g.Expect(said).To(ContainElement(And(ContainSubstring("may be left on the target"), ContainSubstring(tc.trouble))))
			}
			if strings.Contains(tc.name, "deletes nothing") {
				g.Expect(os.ReadDir(journals)).To(HaveLen(1), "cleanup tries again")
				_, err := sandbox.Cleanup(t.Context(), testbed.Client(t, server), server.Profile, journals, nil)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(missing(ids(t, server), before)).To(BeEmpty())
			}
			g.Expect(os.ReadDir(journals)).To(BeEmpty())
		})
	}
}

// ids returns the ids of all tests of the main workspace.
func ids(t *testing.T, server *target.Target) []string {
	t.Helper()
	key, _ := server.Profile.FullKey(dataset.Main)
	return testbed.Listed(t, server.BaseURL+spec.MustOperation(spec.ListPlacementTests).Path, key.Token)
}

// missing returns what only the first of the lists has.
func missing(from, in []string) []string {
	return slices.DeleteFunc(slices.Clone(from), func(id string) bool { return slices.Contains(in, id) })
}

// rowsOf returns some tests of the main workspace.
func rowsOf(t *testing.T, server *target.Target) (rows []map[string]any) {
	t.Helper()
	key, _ := server.Profile.FullKey(dataset.Main)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.BaseURL+"/api/v2/inbox-placement-tests?limit=50", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key.Token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	var page struct{ Items []map[string]any }
	if err := json.NewDecoder(answer.Body).Decode(&page); err != nil || len(page.Items) == 0 {
		t.Fatal(err, page)
	}
	return page.Items
}

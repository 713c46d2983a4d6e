package runner

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// A target may show a created test in the whole list at once, and under a filter only later,
// while the specs go on to create tests.
func TestFiltersMayShowTestsLate(t *testing.T) {
	g := NewWithT(t)
	server := embedded(t)
	described := *server.Profile
	described.VisibleWithin = 400 * time.Millisecond
	late := &lateUnderFilters{by: described.VisibleWithin * 3 / 4, created: map[string]time.Time{}}
	results := judged(t, t.Context(), Config{Target: &target.Target{BaseURL: server.BaseURL, Kind: server.Kind, Profile: &described},
		Transport: roundTripper(late.roundTrip), Selection: Selection{Requirements: []string{"FILTER-STATUS-*", "STATE-CREATE-*"}}})
	g.Expect(of(results, reports.Fail)).To(BeEmpty())
	if !late.hid {
		t.Skip("no list with a filter came soon after a creation: the machine is too slow to show anything")
	}
}

// lateUnderFilters hides created tests from lists with a filter for a while.
type lateUnderFilters struct {
	by time.Duration

	mu      sync.Mutex
	created map[string]time.Time // by id
	hid     bool
}

func (l *lateUnderFilters) roundTrip(r *http.Request) (*http.Response, error) {
	const each = 50 * time.Millisecond // so that tests are created for longer than they are late
	path := spec.MustOperation(spec.ListPlacementTests).Path
	creates, filters := r.Method == http.MethodPost && r.URL.Path == path, r.Method == http.MethodGet && r.URL.Path == path && r.URL.Query().Has("status")
	if creates {
		time.Sleep(each)
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || response.StatusCode != http.StatusOK || !creates && !filters {
		return response, err
	}
	defer response.Body.Close()
	var body map[string]any
	decoder := json.NewDecoder(response.Body)
	decoder.UseNumber()
	if err := decoder.Decode(&body); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if creates {
		l.created[body["id"].(string)] = time.Now()
	} else {
		body["items"] = slices.DeleteFunc(body["items"].([]any), func(item any) bool {
			at, ours := l.created[item.(map[string]any)["id"].(string)]
			hides := ours && time.Since(at) < l.by
			l.hid = l.hid || hides
			return hides
		})
	}
	encoded, err := json.Marshal(body)
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(encoded)), int64(len(encoded))
	response.Header.Del("Content-Length")
	return response, err
}

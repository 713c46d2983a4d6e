package testbed

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"testing"

	"outreach.example/conformance/fixtures/refserver"
)

// Get asks for the address, again while it is too early, and reads the JSON that
// comes with a 200. An empty token sends none.
func Get(t testing.TB, address, token string, into any) {
	t.Helper()
	for {
		status, body := ask(t, address, token)
		if status == http.StatusTooManyRequests {
			continue
		}
		if err := json.Unmarshal(body, into); err != nil || status != http.StatusOK {
			t.Fatalf("GET %s: %d, %v", address, status, err)
		}
		return
	}
}

// Record returns what a reference server with that truth address did, once all that it has
// begun is done: a response may arrive before it is in the record.
func Record(t testing.TB, truthURL string) refserver.TruthReport {
	t.Helper()
	for {
		var report refserver.TruthReport
		Get(t, truthURL+"/truth", "", &report)
		if report.InFlight == 0 {
			return report
		}
	}
}

// Status asks for the address once. An empty token sends none.
func Status(t testing.TB, address, token string) int {
	t.Helper()
	status, _ := ask(t, address, token)
	return status
}

func ask(t testing.TB, address, token string) (status int, body []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if body, err = io.ReadAll(answer.Body); err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, body
}

// Listed returns the ids of a whole list of the reference server.
func Listed(t testing.TB, address, token string) (ids []string) {
	t.Helper()
	query := url.Values{"limit": {"100"}}
	for {
		var page struct {
			Items []struct {
				ID string `json:"id"`
			} `json:"items"`
			Next string `json:"next_starting_after"`
		}
		Get(t, address+"?"+query.Encode(), token, &page)
		for _, item := range page.Items {
			ids = append(ids, item.ID)
		}
		if page.Next == "" {
			return ids
		}
		query.Set("starting_after", page.Next)
	}
}

package testbed

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"
)

// Get asks for the address, again while it is too early, and reads the JSON that
// comes with a 200. An empty token sends none.
func Get(t testing.TB, address, token string, into any) {
	t.Helper()
	for {
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
		if answer.StatusCode == http.StatusTooManyRequests {
			_ = answer.Body.Close()
			continue
		}
		err = json.NewDecoder(answer.Body).Decode(into)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("GET %s: %d, %v", address, answer.StatusCode, err)
		}
		return
	}
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

package refserver

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/refserver/webhook"
)

// subscriber answers with the statuses in turn, the last one for ever, and
// hands over what it got.
func subscriber(t *testing.T, statuses ...int) (url string, got <-chan string) {
	bodies := make(chan string, 100)
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		status := statuses[min(n, len(statuses)-1)]
		n++ // one worker delivers, so one request at a time
		bodies <- string(body)
		w.WriteHeader(status)
	}))
	t.Cleanup(server.Close)
	return server.URL, bodies
}

// newEvents returns the rows that the webhook events of a workspace have gained.
func (s *service) newEvents(role string) []dataset.WebhookEvent {
	s.t.Helper()
	rows, _ := s.walk(role, "/webhook-events?limit=100")
	var events []dataset.WebhookEvent
	for _, row := range rows[len(docs(s.t, s.workspace(role).Events, nil)):] {
		event, err := parse[dataset.WebhookEvent]([]byte(row))
		if err != nil {
			s.t.Fatal(err)
		}
		events = append(events, event)
	}
	return events
}

func TestDeliveriesBecomeEvents(t *testing.T) {
	url, got := subscriber(t, 500, 503, 200)
	s := start(t, Options{Webhook: webhook.Config{URL: url, Workers: 1, Retries: []time.Duration{time.Millisecond, time.Millisecond}}})
	w := s.workspace(dataset.Main)
	lead := nth(w.Leads, 4)
	s.want(200, s.do("main", "POST", "/leads/subsequence/move", map[string]any{"id": lead.ID, "subsequence_id": nth(w.Subsequences, 0).ID}))
	var sent string
	for range 3 {
		sent = <-got
	}
	if err := s.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	events := s.newEvents(dataset.Main)
	if len(events) != 3 {
		t.Fatalf("%d events, want 3", len(events))
	}
	for i, e := range events {
		body, err := parse[map[string]any]([]byte(sent))
		if err != nil || !reflect.DeepEqual(e.Payload, body) {
			t.Errorf("attempt %d: payload %v, sent %s (%v)", i, e.Payload, sent, err)
		}
		last := i == 2
		if e.RetryCount != i || e.Success != last || e.WillRetry == last || e.RetryGroupID != events[0].RetryGroupID ||
			*e.StatusCode != []int{500, 503, 200}[i] || e.WebhookURL != url || e.LeadEmail != lead.Email || e.OrganizationID != w.ID ||
			e.CreatedDate != e.Created[:10] || e.ResponseTimeMS == nil {
			t.Errorf("attempt %d: %+v", i, e)
		}
		if last {
			if e.NextRetry != nil || e.ErrorMessage != nil || e.RetrySuccessful != nil {
				t.Errorf("the attempt that succeeded: %+v", e)
			}
		} else if e.NextRetry == nil || *e.NextRetry <= e.Created || e.ErrorMessage == nil || !*e.RetrySuccessful {
			t.Errorf("an attempt before the one that succeeded: %+v", e)
		}
	}
	if found := s.page("main", "/webhook-events?search="+escape(lead.Email)+"&success=true&limit=100&from="+events[2].CreatedDate); len(found.Items) != 1 {
		t.Errorf("the filters find %d of the new events, want 1", len(found.Items))
	}
}

func TestWhatIsNotified(t *testing.T) {
	url, got := subscriber(t, 204)
	s := start(t, Options{Webhook: webhook.Config{URL: url, Workers: 1}})
	w, a, b := s.workspace(dataset.Main), s.workspace(dataset.SubA), s.workspace(dataset.SubB)
	expect := func(kind, workspace string) {
		t.Helper()
		select {
		case body := <-got:
			var payload map[string]any
			if err := json.Unmarshal([]byte(body), &payload); err != nil || payload["event_type"] != kind || payload["workspace"] != workspace || payload["resource"] == nil {
				t.Errorf("got %s, want %s", body, kind)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("no %s", kind)
		}
	}
	made := s.want(200, create(s, minimalTest())).json(t)["id"].(string)
	expect("inbox_placement_test.created", w.ID)
	s.want(200, s.do("main", "DELETE", "/inbox-placement-tests/"+made, nil))
	expect("inbox_placement_test.deleted", w.ID)
	s.want(200, s.do("main", "DELETE", "/subsequences/"+nth(w.Subsequences, 1).ID, nil))
	expect("subsequence.deleted", w.ID)
	s.want(200, s.do("main", "POST", "/campaigns/"+nth(w.Campaigns, 0).ID+"/variables", `{"variables":["a"]}`))
	s.fails(s.do("main", "DELETE", "/subsequences/"+unknownID, nil), 404)
	s.want(200, s.do("admin", "POST", "/accounts/move", map[string]any{"emails": a.Accounts[:1], "source_workspace_id": a.ID, "destination_workspace_id": b.ID}))
	expect("accounts.moved", s.workspace(dataset.Admin).ID) // next, so nothing else was notified
	if err := s.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	if n := len(s.newEvents(dataset.Main)); n != 3 {
		t.Errorf("main has %d new events, want 3", n)
	}
	if n := len(s.newEvents(dataset.Admin)); n != 1 {
		t.Errorf("admin has %d new events, want 1", n)
	}
}

func TestShutdownTakesBackPlannedRetries(t *testing.T) {
	url, got := subscriber(t, 500)
	s := start(t, Options{Webhook: webhook.Config{URL: url, Workers: 1, Retries: []time.Duration{time.Hour}}})
	s.want(200, create(s, minimalTest()))
	<-got
	if err := s.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	events := s.newEvents(dataset.Main)
	if len(events) != 1 || events[0].WillRetry || events[0].NextRetry != nil || *events[0].RetrySuccessful {
		t.Errorf("events %+v, want one failure without a retry", events)
	}
}

func TestWithoutSubscriberNothingIsRecorded(t *testing.T) {
	s := start(t, Options{})
	s.want(200, create(s, minimalTest()))
	if got := s.newEvents(dataset.Main); got != nil {
		t.Errorf("events %+v", got)
	}
}

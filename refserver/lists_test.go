package refserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"outreach.example/conformance/fixtures/dataset"
)

// everyList returns what each paged list of a workspace must hold, in order.
func everyList(t testing.TB, w dataset.Workspace) map[string][]string {
	return map[string][]string{
		"/inbox-placement-tests":    docs(t, w.Tests, nil),
		"/inbox-placement-reports":  docs(t, w.Reports, nil),
		"/subsequences":             docs(t, w.Subsequences, nil),
		"/workspace-members":        docs(t, w.Members, nil),
		"/workspace-group-members":  docs(t, w.GroupMembers, nil),
		"/dfy-email-account-orders": docs(t, w.Orders, nil),
		"/custom-tag-mappings":      docs(t, w.TagMappings, nil),
		"/lead-labels":              docs(t, w.LeadLabels, nil),
		"/lead-lists":               docs(t, w.LeadLists, nil),
		"/webhook-events":           docs(t, w.Events, nil),
	}
}

func TestWalksYieldEveryRowOnceInOrder(t *testing.T) {
	s := start(t, Options{})
	for path, want := range everyList(t, s.workspace(dataset.Main)) {
		for _, limit := range []int{7, 100} {
			got, cursors := s.walk("main", sprint("%s?limit=%d", path, limit))
			sameRows(t, sprint("%s by %d", path, limit), got, want)
			if n := (len(want) - 1) / limit; len(cursors) != n {
				t.Errorf("%s by %d: %d cursors, want %d: none on the last page", path, limit, len(cursors), n)
			}
		}
	}
	for path, want := range everyList(t, s.workspace(dataset.Second)) {
		got, _ := s.walk("second", path)
		sameRows(t, "second "+path, got, want)
	}
}

func TestPhoneNumbersAreAPlainArray(t *testing.T) {
	s := start(t, Options{})
	for _, role := range []string{dataset.Main, dataset.Second} {
		want := "[" + strings.Join(docs(t, s.workspace(role).PhoneNumbers, nil), ",") + "]"
		if got := s.want(200, s.do(role, "GET", "/crm-actions/phone-numbers?limit=1", nil)); string(got.body) != want {
			t.Errorf("%s: %.200s", role, got.body)
		}
	}
}

func TestPageThatTheLastRowFillsHasNoCursor(t *testing.T) {
	s := start(t, Options{})
	n := len(docs(t, s.workspace(dataset.Second).LeadLists, nil))
	if p := s.page("second", sprint("/lead-lists?limit=%d", n)); p.Next != nil || len(p.Items) != n {
		t.Errorf("%d items, cursor %v", len(p.Items), p.Next)
	}
	if p := s.page("second", sprint("/lead-lists?limit=%d", n-1)); p.Next == nil || len(p.Items) != n-1 {
		t.Errorf("%d items, cursor %v", len(p.Items), p.Next)
	}
}

func TestKindsOfCursor(t *testing.T) {
	s := start(t, Options{})
	for path, field := range map[string]string{
		"/inbox-placement-tests": "id", "/inbox-placement-reports": "id", "/subsequences": "id", "/workspace-group-members": "id",
		"/custom-tag-mappings": "id", "/webhook-events": "id",
		"/lead-labels": "timestamp_created", "/lead-lists": "timestamp_created", "/workspace-members": "email",
	} {
		p := s.page("main", path)
		if len(p.Items) != defaultLimit {
			t.Errorf("%s: %d items by default", path, len(p.Items))
		}
		var last map[string]any
		if err := json.Unmarshal(p.Items[len(p.Items)-1], &last); err != nil {
			t.Fatal(err)
		}
		if p.Next == nil || *p.Next != last[field] {
			t.Errorf("%s: cursor %v, want the %s %v", path, p.Next, field, last[field])
		}
	}
	if p := s.page("main", "/dfy-email-account-orders"); p.Next == nil {
		t.Error("orders: no cursor")
	} else if _, ok := parseUUID(*p.Next); !ok || *p.Next != nth(s.workspace(dataset.Main).Orders, defaultLimit-1).OrderID {
		t.Errorf("orders: cursor %q", *p.Next)
	}
}

func TestCursorNeedNotStandForARow(t *testing.T) {
	s := start(t, Options{})
	w := s.workspace(dataset.Main)
	gone := nth(w.Tests, 3).ID
	s.want(200, s.do("main", "DELETE", "/inbox-placement-tests/"+gone, nil))
	rows := s.page("main", "/inbox-placement-tests?limit=100&starting_after="+strings.ToUpper(gone)).Items
	sameRows(t, "after a deleted row", raw(rows), docs(t, w.Tests, nil)[4:104])
	lists := docs(t, w.LeadLists, nil)
	for cursor, want := range map[string][]string{
		"2000-01-01":                    lists,
		"2999-01-01T00:00:00Z":          {},
		nth(w.LeadLists, 4).Created:     lists[5:],
		"1999-12-31T23:00:00.0-01%3A00": lists,
	} {
		got := s.page("main", "/lead-lists?limit=100&starting_after="+cursor)
		sameRows(t, "lists after "+cursor, raw(got.Items), want[:min(100, len(want))])
	}
	for path := range everyList(t, w) {
		if p := s.page("main", path+"?starting_after="); len(p.Items) == 0 {
			t.Errorf("%s: an empty starting_after is not the start", path)
		}
	}
}

func TestSortOrder(t *testing.T) {
	s := start(t, Options{})
	up := docs(t, s.workspace(dataset.Main).Tests, nil)
	down := slices.Clone(up)
	slices.Reverse(down)
	for query, want := range map[string][]string{"sort_order=asc": up, "sort_order=desc": down, "sort_order=": up} {
		for _, limit := range []int{10, 100} {
			got, _ := s.walk("main", sprint("/inbox-placement-tests?%s&limit=%d", query, limit))
			sameRows(t, query, got, want)
		}
	}
}

func TestParametersThatAreWrong(t *testing.T) {
	s := start(t, Options{})
	for path, queries := range map[string][]string{
		"/inbox-placement-tests": {"limit=0", "limit=101", "limit=-1", "limit=1.5", "limit=ten", "limit=99999999999999999999",
			"starting_after=x", "status=0", "status=4", "status=active", "sort_order=up", "sort_order=ASC", "search=%zz", "a=1;b=2"},
		"/inbox-placement-tests/" + unknownID: {"with_metadata=1", "with_metadata=TRUE"},
		"/inbox-placement-reports": {"test_id=x", "date_from=yesterday", "date_to=2025-02-30", "date_to=2025-01-01T25:00:00Z",
			"skip_spam_assassin_report=yes", "skip_blacklist_report=0"},
		"/subsequences":             {"parent_campaign=x", "parent_campaign_not=x", "starting_after=2025-01-01"},
		"/workspace-members":        {"accepted=maybe", "starting_after=nobody@nowhere.example"},
		"/workspace-group-members":  {"limit=0", "starting_after=x"},
		"/dfy-email-account-orders": {"limit=0", "starting_after=x"},
		"/custom-tag-mappings":      {"resource_ids=x", "resource_ids=" + unknownID + ",x"},
		"/lead-labels":              {"starting_after=" + unknownID, "interest_status=great", "starting_after=2025-01-01T00:00:00"},
		"/lead-lists":               {"starting_after=" + unknownID, "has_enrichment_task=1"},
		"/webhook-events":           {"success=1", "from=2025-01-01T00:00:00Z", "to=01/02/2025", "from=2025-2-1"},
	} {
		for _, query := range queries {
			t.Run(path+"?"+query, func(t *testing.T) { s.in(t).fails(get(s, path+"?"+query), 400) })
		}
	}
	got := s.want(200, get(s, "/lead-lists?colour=red&limit=3&limit=500&offset=9"))
	if p := got.json(t); len(p["items"].([]any)) != 3 {
		t.Error("unknown parameters are not ignored, or the second limit counted")
	}
}

// TestWalkSeesEveryStableRowOnce walks while others create and delete.
func TestWalkSeesEveryStableRowOnce(t *testing.T) {
	s := start(t, Options{})
	stable := docs(t, s.workspace(dataset.Main).Tests, nil)
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for range 2 {
		writers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				made := s.do("main", "POST", "/inbox-placement-tests", minimalTest())
				if made.status != 200 {
					t.Errorf("create: %d", made.status)
					return
				}
				var test dataset.InboxPlacementTest
				if err := json.Unmarshal(made.body, &test); err != nil {
					t.Error(err)
					return
				}
				if gone := s.do("main", "DELETE", "/inbox-placement-tests/"+test.ID, nil); string(gone.body) != string(made.body) {
					t.Errorf("delete: %d %s", gone.status, gone.body)
					return
				}
			}
		})
	}
	var walkers sync.WaitGroup
	for i := range 3 {
		walkers.Go(func() {
			order := [...]string{"asc", "desc", "asc"}[i]
			seen, err := walkTests(s, sprint("/inbox-placement-tests?limit=9&sort_order=%s", order))
			if err != nil {
				t.Error(err)
			}
			for _, row := range stable {
				if seen[row] != 1 {
					t.Errorf("%s: a stable row was seen %d times", order, seen[row])
				}
			}
		})
	}
	walkers.Wait()
	close(stop)
	writers.Wait()
}

// walkTests is walk for goroutines: it counts rows and does not end the test.
// The writers keep adding at the end, so it ends with the stable rows.
func walkTests(s *service, path string) (map[string]int, error) {
	seen := map[string]int{}
	next := path
	for range 200 {
		a := s.do("main", "GET", next, nil)
		var p page
		if err := json.Unmarshal(a.body, &p); err != nil {
			return nil, fmt.Errorf("%d %s: %w", a.status, a.body, err)
		}
		for _, item := range p.Items {
			seen[string(item)]++
		}
		if p.Next == nil {
			return seen, nil
		}
		next = path + "&starting_after=" + *p.Next
	}
	return nil, errors.New("the walk did not end within 200 pages")
}

// raw turns the rows of a page into strings.
func raw(items []json.RawMessage) []string {
	rows := []string{}
	for _, item := range items {
		rows = append(rows, string(item))
	}
	return rows
}

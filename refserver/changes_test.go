package refserver

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/dataset"
)

// someTime lies behind all rows of the seed.
var someTime = time.Date(2031, 2, 3, 4, 5, 6, 789_000_000, time.UTC)

func fixedClock() time.Time { return someTime }

const someStamp = "2031-02-03T04:05:06.789Z"

// differs compares two objects and returns what became of the fields that changed.
func differs(t *testing.T, was, is any) map[string]any {
	t.Helper()
	fields := func(v any) map[string]any {
		doc, ok := v.([]byte)
		if !ok {
			var err error
			if doc, err = render(v); err != nil {
				t.Fatal(err)
			}
		}
		return answer{body: doc}.json(t)
	}
	before, after := fields(was), fields(is)
	changed := map[string]any{}
	for name := range after {
		if !reflect.DeepEqual(before[name], after[name]) {
			changed[name] = after[name]
		}
	}
	for name := range before {
		if _, there := after[name]; !there {
			changed[name] = "gone"
		}
	}
	return changed
}

func TestAddCampaignVariables(t *testing.T) {
	s := start(t, Options{Clock: fixedClock})
	campaign := nth(s.workspace(dataset.Main).Campaigns, 3)
	path := "/campaigns/" + campaign.ID + "/variables"
	for _, body := range []any{map[string]any{"variables": []string{"b", "a", "b"}}, map[string]any{"variables": []string{}}, map[string]any{"variables": []string{"c", "a"}}} {
		got := s.want(200, s.do("main", "POST", path, body))
		if changed := differs(t, campaign, got.body); !maps.Equal(changed, map[string]any{"timestamp_updated": someStamp}) {
			t.Errorf("changed: %v", changed)
		}
	}
	if got := s.state().CampaignVariables; !reflect.DeepEqual(got, map[string][]string{campaign.ID: {"b", "a", "c"}}) {
		t.Errorf("remembered %v", got)
	}
	for _, body := range []string{`{}`, `{"variables":null}`, `{"variables":"a"}`, `{"variables":[1]}`, `{"variables":[""]}`, `[]`, ``} {
		s.fails(s.do("main", "POST", path, body), 400)
	}
	s.fails(s.do("main", "POST", "/campaigns/"+unknownID+"/variables", `{"variables":["a"]}`), 404)
	s.fails(s.do("main", "POST", "/campaigns/x/variables", `{"variables":["a"]}`), 400)
}

// state reads the truth port.
func (s *service) state() State {
	s.t.Helper()
	var state State
	if err := json.Unmarshal(s.want(200, s.truthGet("/state")).body, &state); err != nil {
		s.t.Fatal(err)
	}
	return state
}

func TestMoveLead(t *testing.T) {
	s := start(t, Options{Clock: fixedClock})
	w := s.workspace(dataset.Main)
	lead := first(t, w.Leads, func(l dataset.Lead) bool { return l.SubsequenceID == "" })
	subsequence := nth(w.Subsequences, 9).ID
	got := s.want(200, s.do("main", "POST", "/leads/subsequence/move", map[string]any{"id": strings.ToUpper(lead.ID), "subsequence_id": strings.ToUpper(subsequence)}))
	want := map[string]any{"subsequence_id": subsequence, "timestamp_added_subsequence": someStamp, "timestamp_updated": someStamp}
	if changed := differs(t, lead, got.body); !maps.Equal(changed, want) {
		t.Errorf("changed: %v, want %v", changed, want)
	}
	other := nth(w.Subsequences, 10).ID
	again := s.want(200, s.do("main", "POST", "/leads/subsequence/move", map[string]any{"id": lead.ID, "subsequence_id": other})).json(t)
	if again["subsequence_id"] != other {
		t.Errorf("moved again: %v", again["subsequence_id"])
	}
	for body, status := range map[string]int{
		`{}`:                       400,
		`{"id":"` + lead.ID + `"}`: 400,
		`{"subsequence_id":"` + subsequence + `"}`:                              400,
		`{"id":null,"subsequence_id":"` + subsequence + `"}`:                    400,
		`{"id":"x","subsequence_id":"` + subsequence + `"}`:                     400,
		`{"id":1,"subsequence_id":2}`:                                           400,
		`{"id":"` + unknownID + `","subsequence_id":"` + subsequence + `"}`:     404,
		`{"id":"` + lead.ID + `","subsequence_id":"` + unknownID + `"}`:         404,
		`{"id":"` + subsequence + `","subsequence_id":"` + subsequence + `"}`:   404,
		`{"id":"` + lead.ID + `","subsequence_id":"` + lead.ID + `","extra":1}`: 404,
	} {
		t.Run(body, func(t *testing.T) { s.in(t).fails(s.do("main", "POST", "/leads/subsequence/move", body), status) })
	}
}

// TestLeadKeepsItsNumbers: free values pass through a move digit by digit.
func TestLeadKeepsItsNumbers(t *testing.T) {
	lead := dataset.Lead{ID: unknownID, Payload: map[string]any{"big": json.Number("12345678901234567890"), "small": json.Number("1.50")}}
	row, err := leadRow(lead)
	if err != nil {
		t.Fatal(err)
	}
	again, err := parse[dataset.Lead](row.Doc)
	if err != nil || !reflect.DeepEqual(again, lead) {
		t.Errorf("%+v (%v)", again.Payload, err)
	}
}

func TestDeleteSubsequence(t *testing.T) {
	s := start(t, Options{})
	w := s.workspace(dataset.Main)
	gone := nth(w.Subsequences, 100)
	want, err := render(gone)
	if err != nil {
		t.Fatal(err)
	}
	s.fails(s.do("main", "DELETE", "/subsequences/"+gone.ID, "{}"), 400)
	if got := s.want(200, s.do("main", "DELETE", "/subsequences/"+gone.ID, nil)); string(got.body) != string(want) {
		t.Errorf("deleted %s", got.body)
	}
	s.fails(s.do("main", "DELETE", "/subsequences/"+gone.ID, nil), 404)
	rows, _ := s.walk("main", "/subsequences?limit=100")
	sameRows(t, "after the delete", rows, docs(t, w.Subsequences, func(r dataset.Subsequence) bool { return r.ID != gone.ID }))
}

func TestMoveAccounts(t *testing.T) {
	s := start(t, Options{})
	a, b, outsider, admin := s.workspace(dataset.SubA), s.workspace(dataset.SubB), s.workspace(dataset.Outsider), s.workspace(dataset.Admin)
	move := func(key string, emails any, from, to string) answer {
		return s.do(key, "POST", "/accounts/move", map[string]any{"emails": emails, "source_workspace_id": from, "destination_workspace_id": to})
	}
	start := s.state().Accounts
	for name, refused := range map[string]struct {
		answer answer
		status int
	}{
		"key of a sub-workspace":      {move("sub-a", a.Accounts[:1], a.ID, b.ID), 403},
		"key that is no admin":        {move("second", a.Accounts[:1], a.ID, b.ID), 403},
		"key of another admin":        {move("outsider-admin", a.Accounts[:1], a.ID, b.ID), 404},
		"destination elsewhere":       {move("admin", a.Accounts[:1], a.ID, outsider.ID), 404},
		"source elsewhere":            {move("admin", outsider.Accounts[:1], outsider.ID, a.ID), 404},
		"destination unknown":         {move("admin", a.Accounts[:1], a.ID, unknownID), 404},
		"into the admin itself":       {move("admin", a.Accounts[:1], a.ID, admin.ID), 404},
		"account of another":          {move("admin", b.Accounts[:1], a.ID, b.ID), 404},
		"one of them unknown":         {move("admin", []string{a.Accounts[0], "nobody@a.example"}, a.ID, b.ID), 404},
		"no emails":                   {move("admin", []string{}, a.ID, b.ID), 400},
		"emails are null":             {move("admin", nil, a.ID, b.ID), 400},
		"emails are no array":         {move("admin", a.Accounts[0], a.ID, b.ID), 400},
		"no address":                  {move("admin", []string{"nobody"}, a.ID, b.ID), 400},
		"an email that is a number":   {move("admin", []any{1}, a.ID, b.ID), 400},
		"source is no id":             {move("admin", a.Accounts[:1], "a", b.ID), 400},
		"destination is no id":        {move("admin", a.Accounts[:1], a.ID, "b"), 400},
		"source is the destination":   {move("admin", a.Accounts[:1], a.ID, a.ID), 400},
		"source is missing":           {s.do("admin", "POST", "/accounts/move", map[string]any{"emails": a.Accounts, "destination_workspace_id": b.ID}), 400},
		"destination is missing":      {s.do("admin", "POST", "/accounts/move", map[string]any{"emails": a.Accounts, "source_workspace_id": a.ID}), 400},
		"workspace of an unpaid plan": {move("unpaid", a.Accounts[:1], a.ID, b.ID), 402},
	} {
		t.Run(name, func(t *testing.T) { s.in(t).fails(refused.answer, refused.status) })
	}
	if now := s.state().Accounts; !reflect.DeepEqual(now, start) {
		t.Fatalf("a refused move moved something: %v", now)
	}
	moved := []string{a.Accounts[0], strings.ToUpper(a.Accounts[1]), a.Accounts[0]}
	if got := s.want(200, move("admin", moved, a.ID, b.ID)); string(got.body) != `{"status":"success"}` {
		t.Errorf("answer %s", got.body)
	}
	now := s.state().Accounts
	if !slices.Equal(now[a.ID], slices.Sorted(slices.Values(a.Accounts[2:]))) || !slices.Contains(now[b.ID], a.Accounts[0]) || len(now[b.ID]) != len(b.Accounts)+2 {
		t.Errorf("a has %v, b has %v", now[a.ID], now[b.ID])
	}
	s.fails(move("admin", a.Accounts[:1], a.ID, b.ID), 404)
	s.want(200, move("admin", a.Accounts[:2], b.ID, a.ID))
	if now := s.state().Accounts; !reflect.DeepEqual(now, start) {
		t.Errorf("after moving back: %v", now)
	}
	s.want(200, move("limited", s.workspace(dataset.LimitedSubA).Accounts, s.workspace(dataset.LimitedSubA).ID, s.workspace(dataset.LimitedSubB).ID))
}

// TestConcurrentMovesAreAllOrNothing lets two movers fight for the same accounts.
func TestConcurrentMovesAreAllOrNothing(t *testing.T) {
	s := start(t, Options{})
	a, b := s.workspace(dataset.SubA), s.workspace(dataset.SubB)
	var won atomic.Int32
	var movers sync.WaitGroup
	for range 4 {
		movers.Go(func() {
			got := s.do("admin", "POST", "/accounts/move", map[string]any{"emails": a.Accounts, "source_workspace_id": a.ID, "destination_workspace_id": b.ID})
			if got.status == 200 {
				won.Add(1)
			}
		})
	}
	movers.Wait()
	if n := won.Load(); n != 1 {
		t.Errorf("%d of the moves succeeded, want 1", n)
	}
}

package api

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/spec"
)

// Ids of rows.
const (
	first  = "0195a1c2-7f00-7c3d-8a11-2b4e5f6a7b8c"
	second = "0195a1c2-7f00-7c3d-8a11-2b4e5f6a7b8d"
	third  = "0195a1c2-7f00-7c3d-8a11-2b4e5f6a7b8e"
)

// change returns a request that the target answered with the status.
func change(method, path, body, made string, status int) client.Step {
	return client.Step{Exchange: client.Exchange{Request: client.Request{Method: method, Path: path, Body: []byte(body)}, Status: status}, Made: made}
}

// A command sends the changes of the rows that the request or the violation names. Those
// that a list may show are sent too, unless there are too many.
func TestChangesThatLeadToAResponse(t *testing.T) {
	few := []client.Step{
		change(http.MethodPost, "/tests", "1", first, 200),
		change(http.MethodPost, "/tests", "2", second, 200),
		change(http.MethodDelete, "/tests/"+first, "", "", 200),
	}
	many := append(slices.Clone(few), change(http.MethodPost, "/tests", "3", third, 200),
		change(http.MethodPost, "/others", "4", "", 200), change(http.MethodPost, "/others", "5", "", 200))
	for name, test := range map[string]struct {
		changes []client.Step
		id      string
		query   url.Values
		told    string
		want    []int // indices of changes
		all     int
	}{
		"a list":                               {changes: few, want: []int{0, 1, 2}, all: 3},
		"a page after the second row":          {changes: few, query: url.Values{"starting_after": {second}}, want: []int{0, 1, 2}, all: 3},
		"the first row":                        {changes: few, id: first, want: []int{0, 2}, all: 2},
		"another row":                          {changes: few, id: third, want: nil, all: 0},
		"a list after many":                    {changes: many, want: []int{0, 2}, all: 6},
		"a deleted row in a list after many":   {changes: many, told: "the deleted " + first + " on no page", want: []int{0, 2}, all: 6},
		"a deleted row on a later page":        {changes: many, query: url.Values{"starting_after": {third}}, told: first, want: []int{0, 2, 3}, all: 6},
		"a lost row in a list after many":      {changes: many, told: "the other resource " + second, want: []int{0, 1, 2}, all: 6},
		"more rows in a list than are sent":    {changes: many, told: first + second, query: url.Values{"ids": {third}}, want: []int{0, 1, 2, 3}, all: 6},
		"many changes of the row in the path":  {changes: slices.Repeat(few[2:], 5), id: first, want: nil, all: 5},
		"many changes that a list never shows": {changes: many[4:], want: []int{0, 1}, all: 2},
	} {
		r := Response{Call: Call{ID: test.id}, changes: test.changes}
		r.Exchange.Request = client.Request{Method: http.MethodGet, Path: strings.TrimSuffix("/tests/"+test.id, "/"), Query: test.query}
		steps, all := r.leading(test.told)
		var want []string
		for _, i := range test.want {
			want = append(want, test.changes[i].Curl())
		}
		var got []string
		for _, s := range steps {
			got = append(got, s.Curl())
		}
		if all != test.all || !slices.Equal(got, want) {
			t.Errorf("%s: %q of %d changes instead of %q of %d", name, got, all, want, test.all)
		}
	}
}

// A comment says what a command does not bring about.
func TestWhatALineLacks(t *testing.T) {
	list := Response{Exchange: client.Exchange{Request: client.Request{Method: http.MethodGet, Path: "/tests"}}}
	list.repeat = list.Exchange.Curl
	byRun := func(id string) bool { return id == first || id == second }
	pair := spec.SortDesc.On(spec.ListPlacementTests)
	told := "the row " + first + " again"
	if line, want := list.curl(pair, told, byRun), list.repeat()+" # the run created "+first+" and has deleted it"; line != want {
		t.Errorf("a row of another spec:\n%s\ninstead of\n%s", line, want)
	}
	if line := list.curl(pair, "the row "+third+" again", byRun); line != list.repeat() {
		t.Errorf("a row that lasts: %s", line)
	}
	list.changes = []client.Step{change(http.MethodPost, "/tests", "1", first, 200)}
	if line := list.curl(pair, told, byRun); strings.Contains(line, "#") || !strings.Contains(line, "-X POST") {
		t.Errorf("a row that the line creates: %s", line)
	}
	list.changes = append(list.changes, slices.Repeat([]client.Step{change(http.MethodPost, "/others", "2", "", 200)}, 5)...)
	const comment = "; to send all of them, with the flags of this run: outreach-conformance run --requirement SORT-DESC --operation inbox-placement-tests.list"
	if line := list.curl(pair, told, byRun); !strings.HasSuffix(line, " # 1 of 6 changes"+comment) || strings.Count(line, "-X POST") != 1 {
		t.Errorf("some of many changes: %s", line)
	}
}

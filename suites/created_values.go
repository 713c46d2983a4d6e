package suites

import (
	"fmt"
	"net/http"
	"slices"

	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/schemas/variants"
	"outreach.example/conformance/spec"
)

// createdValues judges that a created test keeps every kind of value that its fields may
// have, wherever it is shown.
func createdValues() {
	for _, field := range KeptFields() {
		It("keeps "+field, Requires(stored(field)...), storedWhereShown(), func(api *API) { api.expectKeptValues(field) })
	}
	It("keeps values of several fields together", Requires(stored(KeptFields()...)...), storedWhereShown(), keepsValuesTogether)
}

// createdAtOnce is how many tests a spec creates before it deletes them: more would get in
// the way of walks through the list.
const createdAtOnce = 24

// expectKeptValues creates a test with each value of the field.
func (api *API) expectKeptValues(field string) {
	values := api.valuesOf(field)
	if len(values) == 0 {
		api.NotAssessed("%s", lackedValue(field))
	}
	for some := range slices.Chunk(values, createdAtOnce) {
		api.expectKept(field, some)
		api.tidyUp()
	}
	for _, view := range testViews {
		if kept := api.ForOperation(spec.StateCreate(field), view); !kept.Judged() {
			kept.NotAssessed("a created test with a value in %s", field)
		}
	}
}

// testViews are the operations that show a created test.
var testViews = []string{spec.CreatePlacementTest, spec.GetPlacementTest, spec.ListPlacementTests}

// expectKept creates tests. The response, a get and the list must show the values that
// were sent: a server that only echoes is caught, and so is one that shows a value in one
// place alone.
func (api *API) expectKept(field string, values []variants.Variant) {
	id := spec.StateCreate(field)
	calls := make([]Call, len(values))
	for i, v := range values {
		calls[i] = api.creating(field, v)
	}
	var made []Response
	var ids []string
	for i, r := range api.DoAll(calls...) {
		switch {
		case r.OK():
			made, ids = append(made, r), append(ids, r.ID())
		case !values[i].Open:
			api.ForOperation(id, spec.CreatePlacementTest).Expect(r).To(BeServed())
		}
	}
	if len(made) == 0 {
		return
	}
	found, list := api.viewsOf(made, ids)
	for i, r := range made {
		sent := r.SentField(field)
		if isUpToTheServer(field, sent) {
			api.ForOperation(id, spec.CreatePlacementTest).Expect(r).To(BeServed())
			continue
		}
		kept := Keep(field, sent)
		if shown := r.Row()[field]; fits(kept, shown) && !fits(EqualJSON(sent), shown) {
			api.Observe(spec.OpenPointNormalForm, "%s", field)
		}
		api.ForOperation(id, spec.CreatePlacementTest).Expect(r).To(HaveField(field, kept))
		if found[i].Status == http.StatusOK {
			api.ForOperation(id, spec.GetPlacementTest).Expect(found[i]).To(HaveField(field, kept))
		} else {
			api.ForOperation(id, spec.GetPlacementTest).Expect(found[i]).To(HaveStatusBecause(http.StatusOK, "200 and the test that was created"))
		}
		api.ForOperation(id, spec.ListPlacementTests).Expect(list).To(ShowField(r.ID(), field, kept))
	}
}

// viewsOf returns what a get shows of each created test, and a walk through the list that
// shows them.
func (api *API) viewsOf(made []Response, ids []string) (found []Response, list Walk) {
	found = make([]Response, len(made))
	work := make([]func(), len(made))
	for i := range made {
		work[i] = func() { found[i] = api.find(made[i]) }
	}
	api.Together(work...)
	return found, api.listShowing(api.As(dataset.Main, spec.ListPlacementTests), ids...)
}

// automated adds to a creation what an automated test needs.
func (api *API) automated(k Call) Call {
	schedule, _ := api.optionalValue("schedule")
	next, _ := api.optionalValue("timestamp_next_run")
	return k.WithField("schedule", schedule).WithField("timestamp_next_run", next)
}

// isUpToTheServer reports whether a server may show another value at once. The
// specification does not show the transitions of a test: one that is active may run, and one
// that has no issue may get one.
func isUpToTheServer(field string, value any) bool {
	return field == "status" && value == 1.0 || field == "not_sending_status" && value == ""
}

// creating returns a call that creates a test with the value. An empty or a very long text
// may be refused. No test sends an email: one that the service would send is paused.
func (api *API) creating(field string, v variants.Variant) Call {
	k := api.RequestAs(dataset.Main, spec.CreatePlacementTest)
	value := v.Value
	if text, ok := value.(string); ok && slices.Contains(spec.CreateRequired, field) {
		value = api.Word() + " " + text // each name is another one
	}
	k = k.WithField(field, value)
	switch {
	case field == "schedule", field == "timestamp_next_run", field == "type" && value == 2.0: // for automated tests
		k = k.WithField("type", 2)
		if field != "schedule" {
			schedule, _ := api.optionalValue("schedule")
			k = k.WithField("schedule", schedule)
		}
		k = k.WithField("status", paused)
	case field == "sending_method", field == "not_sending_status":
		k = k.WithField("status", paused)
	}
	if v.Open {
		return k.MayBeRefused().Breaking(spec.StateCreate(field)) // by a 5xx
	}
	return k
}

// paused and completed are statuses of tests that are not sent.
const (
	paused    = 2
	completed = 3
)

// valuesOf returns each kind of value that the field of a created test may have: those that
// the document allows, and those that only the profile or the target's rows know. null is
// left out: a server may put a value of its own in its place.
func (api *API) valuesOf(field string) []variants.Variant {
	values := slices.DeleteFunc(variants.Member(spec.CreatePlacementTest, field).Valid, func(v variants.Variant) bool {
		return v.Value == nil || v.Value == "" && slices.Contains(spec.CreateRequired, field)
	})
	for i, v := range values {
		_, isText := v.Value.(string)
		values[i].Open = v.Open && !isLines(field, v) || field == "test_code" && isText // a code may have a form
	}
	for _, text := range keptTexts[field] {
		values = append(values, variants.Variant{What: clipJSON(text), Value: text, Open: true})
	}
	if field == "emails" { // the specification names no maximum
		values = append(values, variants.Variant{What: "12 addresses", Value: api.addresses(12), Open: true},
			variants.Variant{What: "an address twice", Value: slices.Repeat(api.addresses(1), 2), Open: true})
	}
	if field == "tags" {
		tags, _ := api.optionalValue(field)
		if items, _ := normalize(tags).([]any); len(items) > 0 {
			values = append(values, variants.Variant{What: "a tag twice", Value: slices.Repeat(items[:1], 2), Open: true})
		}
	}
	return append(values, api.targetValues(field)...)
}

// keptTexts are texts that a server may refuse, but must not change.
var keptTexts = map[string][]string{
	"name":          {twoBlanks},
	"email_subject": {twoBlanks},
	"email_body":    {twoBlanks, separators},
	"description":   {twoBlanks, separators, "007", "null"},
	"test_code":     {"0123", "1e5"},
}

const (
	twoBlanks  = "two  blanks,   then three"
	separators = "one line\u2028another one\u2029a paragraph\r\nthe end"
)

// isLines reports whether the variant is a text of several lines in a field that is one.
func isLines(field string, v variants.Variant) bool {
	text, _ := v.Value.(string)
	return slices.Contains([]string{"email_body", "description"}, field) && slices.Contains([]byte(text), '\n')
}

// targetValues returns values that exist on the target, or that no server may look up.
func (api *API) targetValues(field string) []variants.Variant {
	w := api.Workspace(dataset.Main)
	var values []any
	switch field {
	case "emails":
		values = []any{api.addresses(1), api.addresses(3)}
	case "test_code":
		code, _ := api.optionalValue(field)
		values = []any{code}
	case "campaign_id":
		for _, id := range firstAndLast(w.Campaigns) {
			values = append(values, id)
		}
	case "tags", "recipients_labels", "automations":
		if value, ok := api.optionalValue(field); ok {
			values = append(values, value)
		}
		if field == "tags" && len(w.Tags) > 1 {
			values = append(values, w.Tags)
		}
	}
	var all []variants.Variant
	if several := api.severalObjects(field); len(several) > 1 { // which go together is open
		all = append(all, variants.Variant{What: clipJSON(several), Value: several, Open: true})
	}
	for _, value := range values {
		if items, isArray := normalize(value).([]any); isArray && len(items) == 0 {
			continue // the document has it
		}
		all = append(all, variants.Variant{What: clipJSON(value), Value: value})
	}
	return all
}

// severalObjects returns different objects for the field, as the profile and the target's
// tests have them; none for a field of another type.
func (api *API) severalObjects(field string) []any {
	const most = 3
	if field != "recipients_labels" && field != "automations" {
		return nil
	}
	values := []any{}
	if known, ok := api.optionalValue(field); ok {
		values = append(values, known)
	}
	for _, row := range api.ReadAll(api.As(dataset.Main, spec.ListPlacementTests)).Rows() {
		values = append(values, row.Value[field])
	}
	var several []any
	seen := map[string]bool{}
	for _, value := range values {
		items, _ := normalize(value).([]any)
		for _, item := range items {
			_, isObject := item.(map[string]any) // a careless server shows what it should have refused
			if text := clipJSON(item); isObject && !seen[text] && len(several) < most {
				seen[text] = true
				several = append(several, item)
			}
		}
	}
	return several
}

// addresses returns addresses of a domain that is reserved (RFC 2606), in which no email
// arrives. They are in no alphabetical order and have capitals: a server may keep both.
func (api *API) addresses(n int) []any {
	all := make([]any, n)
	for i := range all {
		all[i] = fmt.Sprintf("Seed-%d+%s@inboxes.example.com", n-i, api.Word())
	}
	return all
}

// firstAndLast returns the first and the last of some ids.
func firstAndLast(ids []string) []string {
	if len(ids) < 2 {
		return ids
	}
	return []string{ids[0], ids[len(ids)-1]}
}

// findsSpecialNames creates tests whose names hold special characters, and searches for
// each by its full name.
func findsSpecialNames(api *API) {
	var calls []Call
	for _, v := range variants.Member(spec.CreatePlacementTest, "name").Valid {
		if !v.Open {
			calls = append(calls, api.creating("name", v))
		}
	}
	list := api.Request()
	work := make([]func(), len(calls))
	for i, k := range calls { // a server may cache what a search found
		work[i] = func() { api.ReadAll(list.WithQuery("search", k.members()["name"].(string))) }
	}
	api.Together(work...)
	var names, ids []string
	for _, made := range api.DoAll(calls...) {
		if made.OK() {
			names, ids = append(names, made.SentField("name").(string)), append(ids, made.ID())
		}
	}
	listed := api.listShowing(list, ids...).ByKey()
	found := make([]Walk, len(ids))
	api.look(func() bool { // a search may show a new row later than the list
		work := make([]func(), len(ids))
		for i := range ids {
			work[i] = func() { found[i] = api.ReadAll(list.WithQuery("search", names[i])) }
		}
		api.Together(work...)
		return !slices.ContainsFunc(ids, func(id string) bool {
			return found[slices.Index(ids, id)].Keys()[paging.FoldID(id)] == 0
		})
	})
	for i, id := range ids {
		if listed[paging.FoldID(id)]["name"] == names[i] { // otherwise another requirement is broken
			api.Expect(found[i]).To(ShowRow(id, "the test "+shorten(names[i])))
		}
	}
	if !api.For(spec.FilterSearchMissing).Judged() {
		api.NotAssessed("a created test that the list shows")
	}
}

package explore

import (
	"fmt"
	"maps"
	"net/http"
	"slices"

	"pgregory.net/rapid"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
)

// mostSteps is how many steps a sequence has at most.
const mostSteps = 10

// sequences generates sequences of steps. The first one creates a test: without one there
// is nothing to do.
func (e *explorer) sequences() *rapid.Generator[Case] {
	possible := slices.DeleteFunc(slices.Clone(actions), func(do string) bool {
		switch do {
		case get:
			return !e.Selects(spec.GetPlacementTest)
		case list, insert, shrink:
			return !e.Selects(spec.ListPlacementTests)
		default:
			return false
		}
	})
	step := rapid.Custom(func(t *rapid.T) Step {
		s := Step{Do: rapid.SampledFrom(possible).Draw(t, "do")}
		switch s.Do {
		case create:
			s.Create = newTest.Draw(t, "create")
			return s
		case insert, shrink:
			return s
		case list:
			s.Query = ownQuery.Draw(t, "query")
		case get:
			s.Metadata = rapid.SampledFrom([]string{"", "true", "false"}).Draw(t, "metadata")
		}
		s.Test = rapid.IntRange(0, 3).Draw(t, "test")
		return s
	})
	return rapid.Custom(func(t *rapid.T) Case {
		first := Step{Do: create, Create: newTest.Draw(t, "create")}
		return Case{Steps: append([]Step{first}, rapid.SliceOfN(step, 0, mostSteps-1).Draw(t, "steps")...)}
	})
}

// newTest draws what a creation sends beside the required fields. A server that refuses
// one of the texts is not judged by it.
var newTest = rapid.Custom(func(t *rapid.T) suites.NewTestFields {
	var fields suites.NewTestFields
	for _, field := range spec.CreateOptional {
		if rapid.IntRange(0, 3).Draw(t, field) == 3 {
			fields.Optional = append(fields.Optional, field)
		}
	}
	switch rapid.SampledFrom([]string{"", "", "", "texts", "null", "read-only"}).Draw(t, "kind") {
	case "texts":
		fields.Texts = map[string]string{}
		for _, field := range []string{"name", "email_subject", "email_body"} {
			if text := rapid.SampledFrom(special).Draw(t, field); text != "" {
				fields.Texts[field] = text
			}
		}
	case "null":
		fields.Null = rapid.SliceOfNDistinct(rapid.SampledFrom(suites.Nullable()), 1, 3, rapid.ID).Draw(t, "null")
	case "read-only":
		fields.ReadOnly = rapid.SampledFrom(spec.CreateReadOnly).Draw(t, "read-only")
	}
	return fields
})

// special are texts that programs often change when they store or show them.
var special = []string{"", "", "", "“quotes” 'and' \"more\"", "<b>bold</b> & &amp; &lt;", "{{first_name}} %s %20 ${x}", "日本語 ñ é", "😀 beyond", `back\slash`, "100 %", "a  b"}

// ownQuery draws a query in which own tests show.
var ownQuery = rapid.Custom(func(t *rapid.T) oracle.Query {
	q := oracle.Query{Sizes: []int{rapid.SampledFrom([]int{100, 1, 2, 7, 50}).Draw(t, "limit")}, Pages: rapid.IntRange(1, 3).Draw(t, "pages")}
	parameters := map[string]string{}
	if rapid.Bool().Draw(t, "by name") {
		parameters[profile.ParamSearch] = "name"
	}
	if order := rapid.SampledFrom([]string{"desc", "", "asc"}).Draw(t, "order"); order != "" {
		parameters[profile.ParamSortOrder] = order
	}
	if len(parameters) > 0 {
		q.Parameters = parameters
	}
	return q
})

// own is a test that a sequence has created, and what is known of it.
type own struct {
	sent     map[string]any
	made     suites.Response
	fields   suites.NewTestFields
	listed   map[string]any // as the list showed it last; nil if it has not
	gone     bool
	deletion bool // another test was deleted since this one was seen
}

// sequence plays the steps on tests of its own and compares each response with the state
// that the steps before it have led to.
func (e *explorer) sequence(steps []Step) func(*suites.API) {
	return func(api *suites.API) {
		m := &model{api: api}
		for _, s := range steps {
			if len(m.tests) == 0 && s.Do != create {
				return
			}
			switch s.Do {
			case create:
				if !m.create(s.Create) {
					return
				}
			case again:
				m.again(m.test(s))
			case get:
				m.get(m.test(s), s.Metadata)
			case insert, shrink:
				m.walk(s)
			case list:
				m.list(m.test(s), s.Query)
			case remove:
				m.remove(m.test(s))
			}
		}
	}
}

// model is the state that a sequence has led to.
type model struct {
	api   *suites.API
	tests []*own
}

func (m *model) test(s Step) *own { return m.tests[s.Test%len(m.tests)] }

// create creates a test. It reports false if there is none to go on with.
func (m *model) create(fields suites.NewTestFields) bool {
	call, sent := m.api.NewTestCall(fields)
	var made suites.Response
	switch {
	case fields.ReadOnly != "":
		made = m.api.Do(call.MayBeRefused())
		m.readOnly(made, fields.ReadOnly)
	case len(fields.Texts) > 0:
		made = m.api.Do(call.MayBeRefused()) // the specification does not say which texts it takes
	case len(fields.Null) > 0:
		made = m.api.Do(call)
		m.api.Examine(spec.StateCreateNull, spec.CreatePlacementTest, made, suites.BeServed())
	default:
		made = m.api.Do(call)
	}
	if !made.OK() {
		return false
	}
	m.tests = append(m.tests, &own{sent: sent, made: made, fields: fields})
	m.keeps(made, spec.CreatePlacementTest, sent, "", made.Row())
	return true
}

// again sends the creation of a test once more: that makes another test.
func (m *model) again(t *own) {
	made := m.api.Do(t.made.Call)
	m.api.Examine(spec.StateCreateDistinct, spec.CreatePlacementTest, made, suites.BeServed())
	if !made.OK() {
		return
	}
	for _, other := range m.tests {
		m.api.Examine(spec.StateCreateDistinct, spec.CreatePlacementTest, made, suites.HaveField("id", suites.NotEqualID(other.made.ID())))
	}
	m.tests = append(m.tests, &own{sent: t.sent, made: made, fields: t.fields})
}

// readOnly expects that a test which was created does not show the value that was sent for
// a field that only the server may set.
func (m *model) readOnly(r suites.Response, field string) {
	id := spec.StateReadOnly(field)
	if !r.OK() {
		m.api.Examine(id, spec.CreatePlacementTest, r, suites.BeRefused())
		return
	}
	m.api.Examine(id, spec.CreatePlacementTest, r, suites.HaveField(field, suites.DifferFromJSON(r.SentField(field))))
}

// keeps compares what a response shows of a test with what was sent.
func (m *model) keeps(r suites.Response, operation string, sent map[string]any, at string, row map[string]any) {
	for _, field := range slices.Sorted(maps.Keys(sent)) {
		id := spec.StateCreate(field)
		m.api.Count(id, operation, 1)
		if same, err := suites.EqualJSON(sent[field]).Match(row[field]); err != nil || !same {
			m.api.Charge(id, operation, suites.Finding{Response: r, Pointer: at + "/" + field, Expected: suites.Rendered(sent[field]), Actual: suites.Rendered(row[field])})
		}
	}
}

// get reads a test.
func (m *model) get(t *own, metadata string) {
	call := m.api.As(dataset.Main, spec.GetPlacementTest).WithID(t.made.ID()).MayGet(http.StatusNotFound)
	if metadata != "" {
		call = call.WithQuery("with_metadata", metadata)
	}
	if t.gone {
		m.notFound(call, "a deletion in a get", spec.StateDeleteGet, spec.DeletePlacementTest)
		return
	}
	r := m.api.Until("a created test in a get", call, func(r suites.Response) bool { return r.Status != http.StatusNotFound })
	if r.Status != http.StatusOK {
		m.lost(t, r, spec.GetPlacementTest, "status", "200 and the test that was created", fmt.Sprint(r.Status))
		return
	}
	if !r.OK() {
		return
	}
	t.deletion = false
	m.keeps(r, spec.GetPlacementTest, t.sent, "", r.Row())
	m.api.Examine(spec.StateGetList, spec.GetPlacementTest, r, suites.AgreesWith(t.listed))
	if field := t.fields.ReadOnly; field != "" {
		m.api.Examine(spec.StateReadOnly(field), spec.CreatePlacementTest, r, suites.HaveField(field, suites.DifferFromJSON(t.made.SentField(field))))
	}
	switch metadata {
	case "true":
		m.api.Examine(spec.MetaTrue, spec.GetPlacementTest, r, suites.HaveField("metadata", suites.BeAnObject()))
	case "false":
		m.api.Examine(spec.MetaFalse, spec.GetPlacementTest, r, suites.HaveField("metadata", suites.BeAbsent()))
	default:
		m.api.Examine(spec.MetaAbsent, spec.GetPlacementTest, r, suites.HaveField("metadata", suites.BeAbsent()))
	}
}

// lost charges that a test does not show: to the deletion of another one, if there was
// one since it was last seen.
func (m *model) lost(t *own, r suites.Response, operation, pointer, expected, actual string) {
	f := suites.Finding{Response: r, Pointer: pointer, Expected: expected, Actual: actual}
	if t.deletion {
		m.api.Charge(spec.StateDeleteOthers, spec.DeletePlacementTest, f)
		return
	}
	if len(t.fields.Null) > 0 {
		m.api.Charge(spec.StateCreateNull, spec.CreatePlacementTest, f)
		return
	}
	if id := spec.StateCreate("name"); spec.Has(id.On(operation)) {
		m.api.Charge(id, operation, f)
		return
	}
	m.api.Charge(spec.Status200, operation, f)
}

// notFound expects a 404, as soon as a change shows.
func (m *model) notFound(call suites.Call, view string, id spec.ID, operation string) {
	r := m.api.Until(view, call, func(r suites.Response) bool { return r.Status == http.StatusNotFound })
	m.api.Count(id, operation, 1)
	if r.Status != http.StatusNotFound {
		m.api.Charge(id, operation, suites.Finding{Response: r, Pointer: "status", Expected: "404", Actual: fmt.Sprint(r.Status)})
	}
}

// remove deletes a test, or tries to delete it again.
func (m *model) remove(t *own) {
	call := m.api.As(dataset.Main, spec.DeletePlacementTest).WithID(t.made.ID()).MayGet(http.StatusNotFound)
	if t.gone {
		m.notFound(call, "a deletion that is repeated", spec.StateDeleteAgain, spec.DeletePlacementTest)
		return
	}
	r := m.api.Until("a created test in a deletion", call, func(r suites.Response) bool { return r.Status != http.StatusNotFound })
	if r.Status != http.StatusOK {
		m.lost(t, r, spec.DeletePlacementTest, "status", "200 and the test that was created", fmt.Sprint(r.Status))
		return
	}
	t.gone = true
	for _, other := range m.tests {
		other.deletion = other.deletion || other != t
	}
	m.api.Count(spec.StateDeleteAnswer, spec.DeletePlacementTest, 1)
	m.api.Examine(spec.StateDeleteAnswer, spec.DeletePlacementTest, r, suites.AgreesWith(t.made.Row()))
	m.api.Examine(spec.StateDeleteAnswer, spec.DeletePlacementTest, r, suites.AgreesWith(t.listed))
	if r.OK() && paging.FoldID(r.ID()) != paging.FoldID(t.made.ID()) {
		m.api.Charge(spec.StateDeleteAnswer, spec.DeletePlacementTest, suites.Finding{Response: r, Pointer: "/id", Expected: t.made.ID(), Actual: r.ID()})
	}
}

// list reads the list of tests until it shows the state, as soon as changes show.
func (m *model) list(t *own, q oracle.Query) {
	q.Parameters = maps.Clone(q.Parameters)
	if _, search := q.Parameters[profile.ParamSearch]; search {
		q.Parameters[profile.ParamSearch] = fmt.Sprint(t.sent["name"])
	}
	var asked suites.Asked
	var found []mismatch
	m.api.Eventually("a change in the list", func() bool {
		asked = m.api.Ask(m.api.As(dataset.Main, spec.ListPlacementTests), q)
		found = m.differences(asked)
		return len(found) == 0
	})
	for _, d := range found {
		d.charge()
	}
	for _, other := range m.tests {
		m.shows(other, asked)
	}
}

// mismatch is a difference that is charged if it stays.
type mismatch struct{ charge func() }

// differences compares the list with the tests that live and those that are gone.
func (m *model) differences(asked suites.Asked) []mismatch {
	op := spec.MustOperation(spec.ListPlacementTests)
	var rows []paging.Row
	byKey := map[string]*own{}
	for _, t := range m.tests {
		key := paging.FoldID(t.made.ID())
		byKey[key] = t
		if !t.gone {
			rows = append(rows, paging.Row{Key: key, ByID: true, Value: map[string]any{"id": t.made.ID(), "name": t.sent["name"]}})
		}
	}
	var found []mismatch
	for _, d := range asked.Compare(oracle.List{Operation: op, Rows: rows}).Mismatches {
		switch d.Requirement {
		case spec.ListSameValues, spec.PageLimitHonoured:
			continue // shows and the queries compare these
		}
		found = append(found, mismatch{func() { m.api.Charge(d.Requirement, op.ID, asked.Finding(d)) }})
	}
	for p, page := range asked.Walk.Pages {
		for i, row := range page.Rows {
			if t := byKey[row.Key]; t != nil && t.gone {
				found = append(found, mismatch{func() {
					m.api.Charge(spec.StateDeleteList, spec.DeletePlacementTest, suites.Finding{Response: asked.Walk.At(p), Pointer: op.RowPointer(i),
						Expected: "no test that was deleted", Actual: row.Key})
				}})
			}
		}
	}
	return found
}

// shows compares what the list shows of a test with what was sent.
func (m *model) shows(t *own, asked suites.Asked) {
	for p, page := range asked.Walk.Pages {
		for i, row := range page.Rows {
			if !t.gone && row.Key == paging.FoldID(t.made.ID()) {
				t.deletion, t.listed = false, row.Value
				if field := t.fields.ReadOnly; field != "" && schemas.Agree(row.Value[field], t.made.SentField(field)) {
					m.api.Charge(spec.StateReadOnly(field), spec.CreatePlacementTest, suites.Finding{Response: asked.Walk.At(p),
						Pointer: spec.MustOperation(spec.ListPlacementTests).RowPointer(i) + "/" + field, Expected: "the server's own value", Actual: suites.Rendered(row.Value[field])})
				}
				m.keeps(asked.Walk.At(p), spec.ListPlacementTests, t.sent, spec.MustOperation(spec.ListPlacementTests).RowPointer(i), row.Value)
			}
		}
	}
}

// Sizes of a walk during which the list changes. It begins with the newest tests, so it
// shows those of the sequence on its first pages.
const (
	tinyPage  = 3
	ownTests  = 2 * tinyPage
	tinyPages = 8
)

// walk creates tests, walks the list in small pages and creates or deletes tests between
// them. Each test that stays must show once.
func (m *model) walk(s Step) {
	for m.living() < ownTests {
		if !m.create(suites.NewTestFields{}) {
			return
		}
	}
	stay := map[string]int{}
	id, victims := spec.PageInsert, []*own{}
	for i, t := range m.tests {
		switch {
		case t.gone:
		case s.Do == shrink && i%2 == 0:
			victims = append(victims, t)
		default:
			stay[paging.FoldID(t.made.ID())] = 0
		}
	}
	if s.Do == shrink {
		id = spec.PageRemove
	}
	list := m.api.As(dataset.Main, spec.ListPlacementTests).WithQuery("sort_order", "desc")
	changes := 0
	walk := m.api.WalkWhile(list, tinyPage, tinyPages, func(page suites.Response) {
		if s.Do == insert && changes < 2 {
			m.api.NewTest()
			changes++
		}
		for _, row := range page.Rows() { // deletes tests that were shown: cursors may point to them
			for _, t := range victims {
				if !t.gone && paging.KeyOf(row) == paging.FoldID(t.made.ID()) {
					m.remove(t)
				}
			}
		}
	})
	rows := walk.Rows()
	if len(rows) == 0 {
		return
	}
	for _, row := range rows {
		if _, ours := stay[row.Key]; ours {
			stay[row.Key]++
		}
	}
	for _, key := range slices.Sorted(maps.Keys(stay)) {
		if !walk.Complete() && key <= rows[len(rows)-1].Key {
			continue // it comes later
		}
		m.api.Count(id, spec.ListPlacementTests, 1)
		if n := stay[key]; n != 1 {
			m.api.Charge(id, spec.ListPlacementTests, suites.Finding{Response: walk.Last(), Pointer: "/items",
				Expected: "the test " + key + " once in the walk, while others are created or deleted", Actual: fmt.Sprintf("%d times", n)})
		}
	}
}

func (m *model) living() int {
	n := 0
	for _, t := range m.tests {
		if !t.gone {
			n++
		}
	}
	return n
}

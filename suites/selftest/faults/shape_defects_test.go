package faults

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

func TestSamplesShowEveryField(t *testing.T) {
	for _, f := range spec.Fields() {
		if len(slotsAt(sampleOf(f.Resource), f.Path)) == 0 {
			t.Errorf("the example of %s shows no %s", f.Resource, f.Path)
		}
	}
}

// specimen is a target that serves a few resources of one kind, whatever the request.
type specimen struct {
	op   spec.Operation
	rows []json.RawMessage
}

// fullSpecimen shows every field, bareSpecimen only those that must be present.
func fullSpecimen(op spec.Operation) specimen { return newSpecimen(op, func(map[string]any) {}) }

func bareSpecimen(op spec.Operation) specimen {
	return newSpecimen(op, func(row map[string]any) {
		for _, f := range spec.Fields() {
			if f.Resource != op.Resource || f.Required || strings.HasSuffix(f.Path, pathItem) || strings.HasSuffix(f.Path, pathEntry) {
				continue
			}
			for _, s := range slotsAt(row, f.Path) {
				s.set(removed{})
			}
		}
	})
}

func newSpecimen(op spec.Operation, change func(map[string]any)) specimen {
	s := specimen{op: op}
	for i := range 3 {
		row, _ := sampleOf(op.Resource).(map[string]any)
		if _, hasID := row["id"]; hasID {
			row["id"] = fmt.Sprintf("01890a5d-ac96-774b-bcce-b302099a%04d", i)
		}
		change(row)
		s.rows = append(s.rows, encode(row))
	}
	return s
}

// serve answers 200: a list in pages of the limit, a search for nothing with no rows.
func (s specimen) serve(r Request) (Response, error) {
	empty := r.Query.Get("search") == "nothing"
	switch {
	case s.op.Answer == spec.Array && empty: // as of a workspace without rows
		return jsonAnswer(http.StatusOK, []any{}), nil
	case s.op.Answer == spec.Array:
		return jsonAnswer(http.StatusOK, s.rows), nil
	case s.op.Answer == spec.One:
		return jsonAnswer(http.StatusOK, s.rows[0]), nil
	case empty:
		return jsonAnswer(http.StatusOK, map[string]any{"items": []any{}, "next_starting_after": nil}), nil
	}
	from, _ := strconv.Atoi(r.Query.Get("starting_after"))
	limit, _ := strconv.Atoi(r.Query.Get("limit"))
	to := min(from+limit, len(s.rows))
	page := map[string]any{"items": s.rows[from:to]}
	if to < len(s.rows) {
		page["next_starting_after"] = strconv.Itoa(to)
	}
	return jsonAnswer(http.StatusOK, page), nil
}

// requests make a specimen show all it has: a walk, a filter, a search for nothing.
func (s specimen) requests() []Request {
	queries := []string{"", "", ""}
	switch s.op.Answer {
	case spec.Array:
		queries = append(queries, "search=nothing")
	case spec.Page:
		queries = []string{"limit=2", "limit=2&starting_after=2", "limit=2&status=1", "limit=2&search=nothing"}
	}
	var requests []Request
	for _, q := range queries {
		query, err := url.ParseQuery(q)
		if err != nil {
			panic(err)
		}
		requests = append(requests, Request{Operation: s.op.ID, Method: s.op.Method, Path: s.op.Path, Query: query, Header: http.Header{}})
	}
	return requests
}

// violated returns the requirements of the shape profile that the answers of a
// handler break.
func violated(t *testing.T, v *schemas.Validator, s specimen, h Handler) map[string]bool {
	t.Helper()
	broken := map[string]bool{}
	for _, r := range s.requests() {
		answer, err := h(r)
		if err != nil {
			t.Fatal(err)
		}
		if answer.Status != http.StatusOK {
			broken["STATUS-200"] = true
			continue
		}
		if media, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type")); err != nil || media != "application/json" {
			broken["CONTENT-TYPE"] = true
		}
		judged := v.Answer(s.op, answer.Body)
		if judged.Err != nil {
			t.Fatal(judged.Err)
		}
		for _, f := range judged.Findings {
			broken[f.Requirement] = true
		}
	}
	return broken
}

// TestShapeDefectsBreakTheirRequirementAlone lays every defect around a target
// that shows every field. (How a suite finds them, package selftest tells.)
func TestShapeDefectsBreakTheirRequirementAlone(t *testing.T) {
	v, err := schemas.New()
	if err != nil {
		t.Fatal(err)
	}
	a, defects := &Target{Profile: profile.Embedded()}, shapeDefects()
	for _, op := range spec.Operations() {
		s := fullSpecimen(op)
		if broken := violated(t, v, s, s.serve); len(broken) > 0 {
			t.Fatalf("the target of the test itself breaks %v", broken)
		}
		for _, d := range defects {
			if d.Breaks.Operation != op.ID {
				continue
			}
			if broken := violated(t, v, s, d.Apply(a)(s.serve)); len(broken) != 1 || !broken[d.Breaks.Requirement] {
				t.Errorf("%s breaks %v, it is to break %s", d.ID, broken, d.Breaks.Requirement)
			}
		}
	}
}

// TestFieldDefectsSupplyAMissingField: what no row shows is given to one row,
// unless a request could have left it out.
func TestFieldDefectsSupplyAMissingField(t *testing.T) {
	v, err := schemas.New()
	if err != nil {
		t.Fatal(err)
	}
	a, defects := &Target{Profile: profile.Embedded()}, fieldDefects()
	tried := map[string]bool{}
	for _, op := range spec.Operations() {
		if tried[op.Resource] { // another operation on it makes no difference here
			continue
		}
		tried[op.Resource] = true
		s := bareSpecimen(op)
		if broken := violated(t, v, s, s.serve); len(broken) > 0 {
			t.Fatalf("the target of the test itself breaks %v", broken)
		}
		for _, d := range defects {
			if d.Breaks.Operation != op.ID {
				continue
			}
			broken := violated(t, v, s, d.Apply(a)(s.serve))
			needsRequest := strings.HasSuffix(d.ID, filteredRows.id)
			if !broken[d.Breaks.Requirement] && !needsRequest || len(broken) > 1 {
				t.Errorf("%s breaks %v, it is to break %s", d.ID, broken, d.Breaks.Requirement)
			}
		}
	}
}

func TestWrongTypesAreRuledOut(t *testing.T) {
	kind := func(v any) string {
		switch v.(type) {
		case nil:
			return "null"
		case string:
			return "string"
		case json.Number:
			return "number"
		case bool:
			return "boolean"
		case []any:
			return "array"
		default:
			return "object"
		}
	}
	for _, f := range spec.Fields() {
		shown := slotsAt(sampleOf(f.Resource), f.Path)[0].value
		for _, d := range wrongTypes(f) {
			if got := kind(d.wrong(shown)); strings.Contains(f.Type, got) {
				t.Errorf("%s of %s is %s, and %s makes it a %s", f.Path, f.Resource, f.Type, d.id, got)
			}
		}
	}
}

// TestDeepRowIsOneRow: whatever pages show the rows, the same one is picked
// every time, and a list that has no deep row gives its last.
func TestDeepRowIsOneRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := &depth{seen: map[string]bool{}}
		rows := make([]map[string]any, rapid.IntRange(1, 400).Draw(t, "rows"))
		for i := range rows {
			rows[i] = map[string]any{"id": strconv.Itoa(i)}
		}
		want := strconv.Itoa(min(deepDown, len(rows)-1))
		for range 2 {
			size := rapid.IntRange(1, 100).Draw(t, "page size")
			times := 0
			for page := range slices.Chunk(rows, size) {
				last := page[len(page)-1]["id"] == rows[len(rows)-1]["id"]
				for _, picked := range d.pick(page, func() bool { return last }) {
					times++
					if picked["id"] != want {
						t.Fatalf("row %v is picked, not %s", picked["id"], want)
					}
				}
			}
			if times != 1 {
				t.Fatalf("a walk shows %d picked rows", times)
			}
		}
	})
}

// TestEndOfAListBehindACursor: a last page may carry a cursor that leads to nothing.
func TestEndOfAListBehindACursor(t *testing.T) {
	a := &Target{Profile: profile.Embedded()}
	s := fullSpecimen(spec.MustOperation(spec.ListMembers))
	next := func(r Request) (Response, error) {
		answer, err := s.serve(r)
		if page, _ := decode(answer.Body); err == nil {
			object, _ := page.(map[string]any)
			from, _ := strconv.Atoi(r.Query.Get("starting_after"))
			if items := len(rowsIn(r.Operation, page)); items > 0 {
				object["next_starting_after"] = strconv.Itoa(from + items)
			}
			answer.Body = encode(object)
		}
		return answer, err
	}
	var ends []bool
	for _, r := range s.requests()[:2] {
		answer, err := next(r)
		if err != nil {
			t.Fatal(err)
		}
		page, _ := decode(answer.Body)
		ends = append(ends, a.endsList(next, r, page))
	}
	if !slices.Equal(ends, []bool{false, true}) {
		t.Errorf("pages 1 and 2 of 2 end the list: %v", ends)
	}
}

// TestDefectsWithStateServeManyAtOnce is for the race detector.
func TestDefectsWithStateServeManyAtOnce(t *testing.T) {
	s := fullSpecimen(spec.MustOperation(spec.ListLeadLists))
	for _, where := range []reach{deepRow, laterAnswers, filteredRows} {
		f := spec.Field{Resource: s.op.Resource, Path: "name"}
		h := damaging(s.op, f, toNull, where)(&Target{Profile: profile.Embedded()})(s.serve)
		var wait sync.WaitGroup
		for _, r := range slices.Repeat(s.requests(), 5) {
			wait.Go(func() {
				if answer, err := h(r); err != nil || answer.Status != http.StatusOK {
					t.Errorf("%s: %d, %v", where.id, answer.Status, err)
				}
			})
		}
		wait.Wait()
	}
}

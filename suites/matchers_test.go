package suites

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"

	. "outreach.example/conformance/suites/match"
)

// answered is a response of the operation with that status and body.
func answered(operation string, status int, body string) Response {
	r := Response{Call: Call{Operation: spec.MustOperation(operation)}}
	r.Exchange = client.Exchange{Status: status, Body: []byte(body)}
	if decoded, err := schemas.Decode([]byte(body)); err == nil {
		r.Items = r.Call.Operation.Rows(decoded)
		r.Read(decoded)
	}
	return r
}

// testRow returns a row with a status of its own.
func testRow(id string) map[string]any {
	return map[string]any{"id": id, "status": json.Number(id[len(id)-1:])}
}

// walked is a walk of a list in pages of ids.
func walked(end paging.End, pages ...[]string) Walk {
	w := Walk{Walk: paging.Walk{End: end}, List: Call{Operation: spec.MustOperation(spec.ListPlacementTests)}}
	for _, ids := range pages {
		page := paging.Page{Limit: 2}
		for _, id := range ids {
			page.Rows = append(page.Rows, paging.RowOf("", testRow(id)))
		}
		w.Pages = append(w.Pages, page)
		rows, _ := json.Marshal(map[string]any{"items": func() (rows []map[string]any) {
			for _, id := range ids {
				rows = append(rows, testRow(id))
			}
			return rows
		}()})
		w.Responses = append(w.Responses, answered(spec.ListPlacementTests, 200, string(rows)))
	}
	return w
}

const (
	one = "01900000-0000-7000-8000-000000000001"
	two = "01900000-0000-7000-8000-000000000002"
)

// A finding says null of a member that is null, and absent of one that is missing.
func TestFindingsTellNullFromAbsent(t *testing.T) {
	for body, want := range map[string]string{`{"name":null}`: "null", `{}`: "absent", `{"name":1}`: "1"} {
		g, matcher, shown := gomega.NewWithT(t), HaveMember("name", EqualJSON("a")), answered(spec.GetPlacementTest, 200, body)
		g.Expect(matcher.Match(shown)).To(gomega.BeFalse())
		g.Expect(VerdictOf(matcher, shown, "").Findings[0].Actual).To(gomega.Equal(want))
	}
}

// Each matcher matches what it should, says where it does not, and says when
// nothing puts it to the test.
func TestMatchers(t *testing.T) {
	list := func(body string) Response { return answered(spec.ListPlacementTests, 200, body) }
	test := func(body string) Response { return answered(spec.GetPlacementTest, 200, body) }
	refused := answered(spec.GetPlacementTest, 404, `{}`)
	broken := answered(spec.GetPlacementTest, 500, `oops`)
	ordered := walked(paging.Done, []string{one, two})

	for name, tc := range map[string]struct {
		matcher types.GomegaMatcher
		good    any
		bad     any
		at      string // the pointer of the violation
		nothing any    // what does not put it to the test; nil if everything does
	}{
		"HaveStatus":       {HaveStatus(404), refused, test(`{}`), "status", nil},
		"BeRefused":        {BeRefused(), refused, broken, "status", nil},
		"BeServed":         {BeServed(), list(`{"items":[]}`), refused, "status", list(`{}`)},
		"HaveAtMostItems":  {HaveAtMostItems(1), list(`{"items":[{}]}`), list(`{"items":[{},{}]}`), "/items", list(`{"items":[]}`)},
		"HaveField":        {HaveMember("id", EqualID(one)), test(`{"id":"` + strings.ToUpper(one) + `"}`), test(`{"id":"` + two + `"}`), "/id", nil},
		"AgreeWithRow":     {AgreeWithRow(map[string]any{"name": "a"}), test(`{"id":"x","name":"a"}`), test(`{"name":"b"}`), "/name", nil},
		"End":              {End(9), ordered, walked(paging.CursorRepeated, []string{one}), "/next_starting_after", walked(paging.Capped, []string{one})},
		"ShowEveryRowOnce": {ShowEveryRowOnce(), ordered, walked(paging.Done, []string{one}, []string{one}), "/items/0", nil},
		"ShowTheRows":      {ShowTheRows([]paging.Row{{Key: two}}), nil, walked(paging.Done, []string{one}), "/items", nil},
		"ShowTheOrderOf":   {ShowTheOrderOf(ordered), ordered, walked(paging.Done, []string{two, one}), "/items/0", nil},
		"BeSortedByID":     {BeSortedByID("asc"), ordered, walked(paging.Done, []string{two, one}), "/items/1/id", walked(paging.Done, []string{one})},
		"ShowRow":          {ShowRow(one, "the row"), ordered, walked(paging.Done, []string{two}), "/items", nil},
		"NotShowRow":       {NotShowRow(one, "the row"), walked(paging.Done, []string{two}), ordered, "/items", nil},
		"ShowField":        {ShowField(one, "id", EqualID(one)), ordered, walked(paging.Done, []string{two}), "/items", nil},
		"RespectLimits":    {RespectLimits(), ordered, walked(paging.Done, []string{one, two, "3"}), "/items", walked(paging.Done, []string{})},
		"ShareNoRowWith":   {ShareNoRowWith(walked(paging.Done, []string{two})), walked(paging.Done, []string{one}), ordered, "/items/1", nil},
		"CarryCursors":     {CarryCursors(true), withCursor("2026-01-01T00:00:00Z"), withCursor(one), "/next_starting_after", ordered},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			if tc.good != nil {
				g.Expect(tc.good).To(tc.matcher)
				g.Expect(VerdictOf(tc.matcher, tc.good, "")).To(gomega.And(verdictField("Assessed", gomega.BeNumerically(">", 0)), verdictField("Missing", gomega.BeEmpty())))
			}
			if tc.bad != nil {
				ok, err := tc.matcher.Match(tc.bad)
				g.Expect(err).NotTo(gomega.HaveOccurred())
				g.Expect(ok).To(gomega.BeFalse())
				found := VerdictOf(tc.matcher, tc.bad, "")
				g.Expect(found.Findings[0].Pointer).To(gomega.Equal(tc.at))
				g.Expect(found.Findings[0].Expected).NotTo(gomega.BeEmpty())
				g.Expect(tc.matcher.FailureMessage(tc.bad)).To(gomega.And(gomega.HavePrefix("Expected the server to "), gomega.ContainSubstring(found.Findings[0].Actual)))
				g.Expect(tc.matcher.NegatedFailureMessage(tc.bad)).To(gomega.HavePrefix("Expected the server not to "))
			}
			if tc.nothing != nil {
				g.Expect(tc.nothing).To(tc.matcher)
				g.Expect(VerdictOf(tc.matcher, tc.nothing, "")).To(gomega.And(verdictField("Assessed", gomega.BeZero()), verdictField("Missing", gomega.Not(gomega.BeEmpty()))))
			}
			_, err := tc.matcher.Match("a text")
			g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("got a string")))
		})
	}
}

// verdictField matches the Assessed or Missing of a verdict.
func verdictField(name string, m types.GomegaMatcher) types.GomegaMatcher {
	return gomega.WithTransform(func(v Verdict) any {
		if name == "Assessed" {
			return v.Assessed
		}
		return v.Missing
	}, m)
}

func withCursor(cursor string) Walk {
	w := walked(paging.Done, []string{one})
	w.Pages[0].Cursor = cursor
	return w
}

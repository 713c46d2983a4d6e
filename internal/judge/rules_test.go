package judge

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

var (
	sharedRules    = sync.OnceValues(NewRules)
	sharedDocument = sync.OnceValues(schemas.Document)
)

// look judges a response to a valid request by the key of the workspace owner.
func look(t *testing.T, asked Request, ex client.Exchange) Result {
	t.Helper()
	rules, err := sharedRules()
	if err != nil {
		t.Fatal(err)
	}
	return rules.Check(asked, ex)
}

// broken returns the violated requirements without duplicates.
func broken(s Result) []string {
	ids := []string{}
	for _, f := range s.Findings {
		ids = append(ids, f.Pair.Requirement)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func saw(s Result, requirement string) bool {
	return slices.ContainsFunc(s.Seen, func(seen Seen) bool { return seen.Pair.Requirement == requirement })
}

func answering(status int, contentType, body string) client.Exchange {
	return client.Exchange{Status: status, Header: http.Header{"Content-Type": {contentType}}, Body: []byte(body)}
}

func served(body string) client.Exchange { return answering(200, "application/json", body) }

// row returns the document's example of a resource with changes; nil removes a field.
func row(t *testing.T, resource string, change map[string]any) map[string]any {
	t.Helper()
	document, err := sharedDocument()
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(document.Components.Schemas[resource].Value.Example)
	if err != nil {
		t.Fatal(err)
	}
	var example map[string]any
	if err := json.Unmarshal(encoded, &example); err != nil || len(example) == 0 {
		t.Fatalf("the example of %s: %v, %v", resource, example, err)
	}
	maps.Copy(example, change)
	maps.DeleteFunc(example, func(_ string, value any) bool { return value == nil })
	return example
}

// answer wraps rows in the outer form of the operation's 200.
func answer(t *testing.T, operation string, rows ...map[string]any) client.Exchange {
	t.Helper()
	var body any
	switch op := spec.MustOperation(operation); op.Answer {
	case spec.Page:
		body = map[string]any{"items": rows}
	case spec.Array:
		body = rows
	default:
		body = rows[0]
	}
	encoded, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return served(string(encoded))
}

func TestStatus(t *testing.T) {
	valid, refused, gone := client.Only(http.StatusOK), client.AnyRefusal(), client.Only(http.StatusOK, http.StatusNotFound)
	const status200, allowed = "STATUS-200", "STATUS-ALLOWED"
	for _, tc := range []struct {
		name    string
		status  int
		allowed client.Allowed
		seen    []string
		broken  string
		right   string // the expected statuses
	}{
		{"200 for a valid request", 200, valid, []string{status200}, "", ""},
		{"201 for a valid request", 201, valid, []string{status200}, status200, "200"},
		{"400 for a valid request", 400, valid, []string{status200}, status200, "200"},
		{"401 for a valid request", 401, valid, []string{status200}, status200, "200"},
		{"302 for a valid request", 302, valid, []string{status200}, status200, "200"},
		{"500 for a valid request", 500, valid, []string{status200}, status200, "200"},
		{"429 for a valid request", 429, valid, nil, "", ""},
		{"200 for any request", 200, client.Allowed{}, []string{status200}, "", ""},
		{"204 for any request", 204, client.Allowed{}, []string{status200}, status200, "200"},
		{"400 for any request", 400, client.Allowed{}, nil, "", ""},
		{"500 for any request", 500, client.Allowed{}, nil, "", ""},
		{"400 for an invalid request", 400, refused, []string{allowed}, "", ""},
		{"429 for an invalid request", 429, refused, []string{allowed}, "", ""},
		{"200 for an invalid request", 200, refused, []string{status200, allowed}, allowed, "a refusal (4xx)"},
		{"202 for an invalid request", 202, refused, []string{status200}, status200, "200"},
		{"302 for an invalid request", 302, refused, []string{allowed}, allowed, "a refusal (4xx)"},
		{"500 for an invalid request", 500, refused, []string{allowed}, allowed, "a refusal (4xx)"},
		{"404 for a row that may be gone", 404, gone, nil, "", ""},
		{"400 for a row that may be gone", 400, gone, []string{status200}, status200, "200"},
		{"500 for a row that may be gone", 500, gone, []string{status200}, status200, "200"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			op := spec.MustOperation(spec.ListLeadLists)
			ex := answering(tc.status, "application/json", fmt.Sprintf(`{"items":[],"statusCode":%d,"error":%q,"message":"no"}`, tc.status, http.StatusText(tc.status)))
			s := look(t, Request{Operation: op, Allowed: tc.allowed}, ex)
			for _, requirement := range []string{status200, allowed} {
				g.Expect(saw(s, requirement)).To(Equal(slices.Contains(tc.seen, requirement)), requirement)
			}
			if tc.broken == "" {
				g.Expect(s.Findings).To(BeEmpty())
				return
			}
			g.Expect(broken(s)).To(Equal([]string{tc.broken}))
			g.Expect(s.Findings[0].Pair.Operation).To(Equal(op.ID))
			g.Expect(s.Findings[0].Pointer).To(Equal("status"))
			g.Expect(s.Findings[0].Expected).To(Equal(tc.right))
			g.Expect(s.Findings[0].Actual).To(HavePrefix("%d {", tc.status), "the body often says why")
		})
	}
}

func TestErrorBodies(t *testing.T) {
	get := spec.MustOperation(spec.GetPlacementTest)
	for _, tc := range []struct {
		name   string
		status int
		body   string
		broken []string
	}{
		{"as documented", 402, `{"statusCode":402,"error":"Payment Required","message":"pay"}`, []string{}},
		{"with more members", 404, `{"statusCode":404,"error":"Not Found","message":"none","id":"x"}`, []string{}},
		{"no object", 429, `"slow down"`, []string{"ERROR-429-BODY"}},
		{"no JSON", 401, `Unauthorized`, []string{"ERROR-401-BODY"}},
		{"another code", 404, `{"statusCode":400,"error":"Not Found","message":"none"}`, []string{"ERROR-404-STATUSCODE"}},
		{"the code as text", 404, `{"statusCode":"404","error":"Not Found","message":"none"}`, []string{"ERROR-404-STATUSCODE"}},
		{"another text", 402, `{"statusCode":402,"error":"payment required","message":"pay"}`, []string{"ERROR-402-ERROR"}},
		{"an empty message", 429, `{"statusCode":429,"error":"Too Many Requests","message":""}`, []string{"ERROR-429-MESSAGE"}},
		{"nothing of it", 401, `{}`, []string{"ERROR-401-ERROR", "ERROR-401-MESSAGE", "ERROR-401-STATUSCODE"}},
		{"a status that is not documented", 403, `forbidden`, []string{}},
		{"a server error", 500, ``, []string{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			s := look(t, Request{Operation: get}, answering(tc.status, "application/json", tc.body))
			g.Expect(broken(s)).To(Equal(tc.broken))
			g.Expect(saw(s, "ERROR-404-BODY")).To(Equal(tc.status == 404))
		})
	}
	t.Run("404 where no id is asked for", func(t *testing.T) {
		s := look(t, Request{Operation: spec.MustOperation(spec.ListLeadLists)}, answering(404, "text/html", "nothing here"))
		NewWithT(t).Expect(s.Findings).To(BeEmpty())
	})
	t.Run("the message is observed", func(t *testing.T) {
		s := look(t, Request{Operation: get}, answering(402, "application/json", `{"statusCode":402,"error":"Payment Required","message":"pay first"}`))
		NewWithT(t).Expect(s.Observed).To(Equal([]Observation{{spec.OpenPointMessages, "402: pay first"}}))
	})
}

// An incomplete response proves nothing.
func TestIncompleteResponseProvesNothing(t *testing.T) {
	for name, spoil := range map[string]func(*client.Exchange){
		"none":    func(ex *client.Exchange) { *ex = client.Exchange{Err: errors.New("no connection")} },
		"in part": func(ex *client.Exchange) { ex.Err = errors.New("broke off") },
		"cut off": func(ex *client.Exchange) { ex.Truncated = true },
	} {
		t.Run(name, func(t *testing.T) {
			ex := answering(500, "text/html", "<html>")
			spoil(&ex)
			NewWithT(t).Expect(look(t, Request{Operation: spec.MustOperation(spec.ListLeadLists), Allowed: client.Only(http.StatusOK)}, ex)).To(Equal(Result{}))
		})
	}
}

func TestExtraFieldsAreObservedOnly(t *testing.T) {
	g := NewWithT(t)
	s := look(t, Request{Operation: spec.MustOperation(spec.ListLeadLists), Allowed: client.Only(http.StatusOK)},
		answer(t, spec.ListLeadLists, row(t, "LeadList", map[string]any{"colour": "red"})))
	g.Expect(s.Findings).To(BeEmpty())
	g.Expect(s.Observed).To(ContainElement(HaveField("OpenPoint", spec.OpenPointExtraFields)))
}

func FuzzLook(f *testing.F) {
	for i, body := range []string{"", "{}", "[]", `{"items":[{}]}`, `{"items":[{"timestamp_created":1,"metadata":{}}]}`, "\xff", `[[[[`} {
		f.Add(i, 200, "application/json", body)
	}
	f.Add(3, 404, "text/html; =", `{"statusCode":1e9999999}`)
	f.Fuzz(func(t *testing.T, op, status int, contentType, body string) {
		operations := spec.Operations()
		asked := Request{Operation: operations[uint(op)%uint(len(operations))], Allowed: client.Only(http.StatusOK), Owner: "x"}
		s := look(t, asked, answering(status, contentType, body))
		for _, finding := range s.Findings {
			if !spec.Has(finding.Pair) || finding.Expected == "" || !saw(s, finding.Pair.Requirement) {
				t.Errorf("%+v: a finding has a pair of the catalogue, says what was expected, and was put to the test", finding)
			}
		}
		for _, seen := range s.Seen {
			if !spec.Has(seen.Pair) || seen.Times < 1 {
				t.Errorf("%v is not in the catalogue", seen)
			}
		}
	})
}

// A response is compared with the request only as far as Request describes it.
func TestResponsesAreComparedWithTheRequest(t *testing.T) {
	test := row(t, "InboxPlacementTest", nil)
	id, _ := test["id"].(string)
	const other = "0199ffff-0000-7000-8000-000000000000"
	for name, tc := range map[string]struct {
		operation    string
		rows         int
		limit        int
		id           string
		sees, breaks string
	}{
		"more rows than the limit":       {spec.ListPlacementTests, 2, 1, "", "PAGE-LIMIT-HONOURED", "PAGE-LIMIT-HONOURED"},
		"as many rows as the limit":      {spec.ListPlacementTests, 2, 2, "", "PAGE-LIMIT-HONOURED", ""},
		"no rows":                        {spec.ListPlacementTests, 0, 1, "", "", ""},
		"a limit that is not known":      {spec.ListPlacementTests, 2, 0, "", "", ""},
		"another test":                   {spec.GetPlacementTest, 1, 0, other, "STATE-GET-LIST", "STATE-GET-LIST"},
		"the test":                       {spec.GetPlacementTest, 1, 0, id, "STATE-GET-LIST", ""},
		"the test in capitals":           {spec.GetPlacementTest, 1, 0, strings.ToUpper(id), "STATE-GET-LIST", ""},
		"a test that nobody names":       {spec.GetPlacementTest, 1, 0, "", "", ""},
		"another test than was deleted":  {spec.DeletePlacementTest, 1, 0, other, "STATE-DELETE-ANSWER", "STATE-DELETE-ANSWER"},
		"an id of which nothing is said": {spec.CreatePlacementTest, 1, 0, other, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := look(t, Request{Operation: spec.MustOperation(tc.operation), Allowed: client.Only(http.StatusOK), Limit: tc.limit, ID: tc.id}, answer(t, tc.operation, slices.Repeat([]map[string]any{test}, tc.rows)...))
			for _, requirement := range []string{"PAGE-LIMIT-HONOURED", "STATE-GET-LIST", "STATE-DELETE-ANSWER"} {
				if saw(s, requirement) != (requirement == tc.sees) {
					t.Errorf("%s is put to the test: %v", requirement, saw(s, requirement))
				}
				if slices.Contains(broken(s), requirement) != (requirement == tc.breaks) {
					t.Errorf("broken are %q", broken(s))
				}
			}
		})
	}
}

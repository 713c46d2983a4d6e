// Package sample makes results for tests of the model and of its views. Only tests
// import it.
package sample

import (
	"fmt"
	"slices"
	"time"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// groups is the number of requirements in each group for an operation of Full.
var groups = []struct {
	name  spec.Group
	id    string
	lists bool // on list operations only
	count int
}{
	{spec.GroupShape, "SHAPE-FIELD", false, 60},
	{spec.GroupErrors, "ERROR-BODY", false, 6},
	{spec.GroupKeys, "KEY-REFUSED", false, 4},
	{spec.GroupBilling, "BILLING-REFUSED", false, 1},
	{spec.GroupPages, "PAGE-WALK", true, 12},
	{spec.GroupFilters, "FILTER-SELECTS", true, 5},
	{spec.GroupRequests, "REQUEST-REFUSED", false, 3},
	{spec.GroupState, "STATE-KEPT", false, 1},
	{spec.GroupIsolation, "ISOLATION-NO-ROW", false, 2},
	{spec.GroupRate, "RATE-ANSWERS", false, 2},
}

// Full returns a failed run with every part of the model: stated and derived failures
// on one and on many operations, strings of a hostile target, missing inputs, an
// error, observations and troubles.
func Full() reports.Results {
	r := reports.Results{
		Version: reports.ModelVersion,
		Tool:    reports.Tool{Name: "outreach-conformance", Version: "1.4.0", Go: "go1.26.0", Commit: "0123abc"},
		Target:  reports.Target{Name: "Acme Outreach", Version: "2.4.1", Vendor: "Acme Mail Works", BaseURL: "https://staging.acme.example/outreach", Kind: "url"},
		Run: reports.Run{
			ID: "01964f0e-6c1b-7d3a-9b1e-0c5d8f2a7e11", Started: time.Date(2026, 3, 1, 10, 20, 30, 0, time.UTC),
			Seconds: 12.348, Seed: 42, Profile: "full", Specs: 512,
		},
		Verdict: reports.Failed,
		Reasons: []string{"some checks failed", "an expected failure of the profile has expired: PAGE-WALK-07 on lead-lists.list (2026-02-01)"},
		Checks:  checks(),
		Levels:  []reports.Level{{Set: "shape", Requirements: 549, Assessed: 549}, {Set: "read", Requirements: 68, Assessed: 60}, {Set: "scopes", Requirements: 17, Assessed: 17, Failed: 2}},
		Traffic: reports.Traffic{
			Requests: 23_041, Statuses: map[string]int{"200": 21_702, "400": 811, "401": 320, "404": 190, "429": 12, "none": 6},
			BytesReceived: 734_003_211, Throttled: 12,
		},
		Troubles: []reports.Trouble{
			{Where: "clean-up", What: "one placement test of this run is still there: delete 01964f0e-6c1b-7d3a-9b1e-0c5d8f2a7e12 by hand or run `outreach-conformance cleanup`"},
			{Where: "PAGE-WALK-03 on webhook-events.list", What: "check panicked: index out of range [3] with length 3"},
		},
	}
	fail(&r)
	leaveOut(&r)
	r.Observations = observations()
	r.Requests = requests()
	return r
}

// Passed returns a run of one operation that passes.
func Passed() reports.Results {
	r := Full()
	r.Verdict, r.Reasons, r.Troubles = reports.Passed, nil, nil
	r.Levels = r.Levels[:1]
	r.Requests = slices.DeleteFunc(r.Requests, func(n reports.Requests) bool { return n.Operation != spec.ListPhoneNumbers })
	r.Run.Selection = "--operation phone-numbers.list"
	r.Checks = slices.DeleteFunc(checks(), func(c reports.Check) bool { return c.Operation != spec.ListPhoneNumbers })
	r.Observations = slices.DeleteFunc(r.Observations, func(o reports.Observation) bool { return o.Operation != spec.ListPhoneNumbers })
	r.Traffic = reports.Traffic{Requests: 61, Statuses: map[string]int{"200": 40, "401": 21}, BytesReceived: 71_202}
	r.Run.Seconds, r.Run.Specs = 0.212, 24
	return r
}

// Empty returns a run that did not reach its target.
func Empty() reports.Results {
	return reports.Results{
		Version:  reports.ModelVersion,
		Tool:     reports.Tool{Name: "outreach-conformance", Version: "(devel)", Go: "go1.26.0"},
		Target:   reports.Target{Kind: "url", BaseURL: "http://127.0.0.1:9"},
		Run:      reports.Run{ID: "01964f0e-6c1b-7d3a-9b1e-0c5d8f2a7e13", Started: time.Date(2026, 3, 1, 10, 20, 30, 0, time.UTC), Profile: "shape"},
		Verdict:  reports.Inconclusive,
		Reasons:  []string{"no response from http://127.0.0.1:9: connection refused"},
		Troubles: []reports.Trouble{{Where: "target", What: "dial tcp 127.0.0.1:9: connect: connection refused"}},
	}
}

func checks() []reports.Check {
	var all []reports.Check
	for _, op := range spec.Operations() {
		for _, g := range groups {
			if g.lists && op.Answer != spec.Page {
				continue
			}
			for n := 1; n <= g.count; n++ {
				all = append(all, reports.Check{
					Requirement: fmt.Sprintf("%s-%02d", g.id, n), Operation: op.ID, Group: string(g.name), Level: level(n),
					Outcome: reports.Pass, Assessments: 3 * n, Specs: []string{"suites/" + string(g.name) + ".go:17"}, Seconds: float64(n) / 8,
				})
			}
		}
	}
	return all
}

func level(n int) string {
	if n%4 == 0 {
		return string(spec.Derived)
	}
	return string(spec.Stated)
}

// on calls change with every check of the requirement on the operations. No operations
// means all.
func on(r *reports.Results, requirement string, operations []string, change func(*reports.Check)) {
	for i := range r.Checks {
		c := &r.Checks[i]
		if c.Requirement == requirement && (len(operations) == 0 || slices.Contains(operations, c.Operation)) {
			change(c)
		}
	}
}

func fail(r *reports.Results) {
	with := func(count int, violations ...reports.Violation) func(*reports.Check) {
		return func(c *reports.Check) {
			c.Outcome, c.Violations, c.ViolationCount = reports.Fail, violations, count
		}
	}
	on(r, "PAGE-WALK-04", []string{spec.ListPlacementTests}, with(9,
		reports.Violation{
			Statement: "A walk over all pages returns each row exactly once and ends.", Section: "Endpoints, Pagination (list endpoints)",
			Spec: "inbox placement tests are listed page by page", Pointer: "/items/0/id",
			Expected: "a row that no former page of the walk held", Actual: `"01964f0e-6c1b-7d3a-9b1e-0c5d8f2a7e11", the last row of the page before`,
			Curl: `curl -sS -H "Authorization: Bearer $OUTREACH_KEY_MAIN" "$OUTREACH_URL/api/v2/inbox-placement-tests?limit=100&starting_after=01964f0e-6c1b-7d3a-9b1e-0c5d8f2a7e11"`,
			Body: `{"items":[{"id":"01964f0e-6c1b-7d3a-9b1e-0c5d8f2a7e11"}]}`,
			Exchange: &reports.Exchange{
				Request: reports.Head{
					Line:    "GET /api/v2/inbox-placement-tests?limit=100&starting_after=01964f0e-6c1b-7d3a-9b1e-0c5d8f2a7e11",
					Headers: []string{"Authorization: Bearer $OUTREACH_KEY_MAIN", "User-Agent: outreach-conformance"},
				},
				Response: reports.Head{Line: "200 OK", Headers: []string{"Content-Type: application/json", "Date: Sun, 01 Mar 2026 10:20:31 GMT"}, Bytes: 54_211},
			},
		},
		reports.Violation{
			Statement: "A walk over all pages returns each row exactly once and ends.", Section: "Endpoints, Pagination (list endpoints)",
			Pointer: "", Expected: "257 rows", Actual: "259 rows",
			Curl: `curl -sS -H "Authorization: Bearer $OUTREACH_KEY_MAIN" "$OUTREACH_URL/api/v2/inbox-placement-tests?limit=10"`,
		},
		reports.Violation{
			Statement: "A walk over all pages returns each row exactly once and ends.", Section: "Endpoints, Pagination (list endpoints)",
			Pointer: "/items/9/id", Expected: "an id after the one before", Actual: `"01964f0e-6c1b-7d3a-9b1e-0c5d8f2a7e10"`,
		}))
	var everywhere []string
	for _, op := range spec.Operations() {
		if op.ID != spec.MoveAccounts {
			everywhere = append(everywhere, op.ID)
		}
	}
	on(r, "ERROR-BODY-02", everywhere, with(1, reports.Violation{
		Statement: "The field statusCode of an error body equals the HTTP status of the response.", Section: "Errors",
		Pointer: "/statusCode", Expected: "404", Actual: `"404", a string`,
		Curl: `curl -sS -H "Authorization: Bearer $OUTREACH_KEY_MAIN" "$OUTREACH_URL/api/v2/…"`,
	}))
	on(r, "SHAPE-FIELD-17", []string{spec.ListWebhookEvents, spec.GetPlacementTest}, with(412, reports.Violation{
		Statement: "timestamp_created is ISO 8601, in UTC, with milliseconds.", Section: "Resources and their fields",
		Pointer: "/items/3/timestamp_created", Expected: "a timestamp like 2026-03-01T10:20:30.000Z", Actual: "\"2026-03-01 \x1b[31m10:20\x1b[0m ]]> \u202e{{red}}\xff\"",
		Curl: `curl -sS -X DELETE -H "Authorization: Bearer $OUTREACH_KEY_MAIN" "$OUTREACH_URL/api/v2/webhook-events?limit=1"`,
	}))
	on(r, "STATE-KEPT-01", []string{spec.DeleteSubsequence}, with(1, reports.Violation{
		Statement: "What is deleted is answered with the deleted resource.", Section: "Endpoints, Campaign subsequences",
		Pointer: "status", Expected: "200", Actual: "500 Internal Server Error",
	}))
	on(r, "PAGE-WALK-03", []string{spec.ListWebhookEvents}, func(c *reports.Check) {
		c.Outcome, c.Assessments = reports.Error, 0
	})
}

func leaveOut(r *reports.Results) {
	without := func(inputs ...string) func(*reports.Check) {
		return func(c *reports.Check) {
			c.Outcome, c.Assessments, c.Missing = reports.NotAssessed, 0, inputs
		}
	}
	on(r, "RATE-ANSWERS-01", nil, without("a workspace whose rate limit may be exhausted"))
	on(r, "RATE-ANSWERS-02", nil, without("a workspace whose rate limit may be exhausted", "a revoked key"))
	on(r, "KEY-REFUSED-04", nil, without("a revoked key"))
	on(r, "FILTER-SELECTS-03", []string{spec.ListMembers, spec.ListLeadLists}, without("the name of the parameter that filters by a search string (names.search), which the specification does not show"))
	for n := 20; n <= 60; n++ {
		on(r, fmt.Sprintf("SHAPE-FIELD-%02d", n), []string{spec.MoveLead}, without("a lead that was moved"))
	}
}

func requests() []reports.Requests {
	var all []reports.Requests
	for i, op := range spec.Operations() {
		all = append(all,
			reports.Requests{Operation: op.ID, Allowed: "200", Sent: 400 + i, Accepted: 400 + i},
			reports.Requests{Operation: op.ID, Allowed: "401", Sent: 20},
			reports.Requests{Operation: op.ID, Allowed: "a refusal (4xx)", Sent: 11 + i, Accepted: i % 2})
	}
	return all
}

func observations() []reports.Observation {
	var all []reports.Observation
	add := func(openPoint, operation, value string, count int) {
		all = append(all, reports.Observation{OpenPoint: openPoint, Operation: operation, Value: value, Count: count})
	}
	for i, op := range spec.Operations() {
		status := "400"
		if op.Resource == "Campaign" {
			status = "422"
		}
		add("SILENT-INVALID-REQUEST", op.ID, status, 3)
		if op.Answer == spec.Page {
			add("SILENT-DEFAULT-LIMIT", op.ID, "10", 1)
			add("SILENT-LAST-CURSOR", op.ID, []string{"absent", "null", `""`, "a cursor to an empty page", "the id of the last row"}[i%5], 2)
		}
		add("SILENT-MESSAGES", op.ID, fmt.Sprintf("\"There is no %s with the id that was asked for in this workspace, or the key may not see it\"", op.Resource), 2)
	}
	add("SILENT-RETRY-AFTER", "", "3 seconds", 12)
	return all
}

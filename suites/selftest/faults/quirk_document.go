package faults

import (
	"maps"
	"net/http"
	"regexp"
	"slices"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// documentQuirks refuse, or treat in their own way, values that the OpenAPI document allows
// and that no sentence obliges a server to take.
func documentQuirks() []Quirk {
	refusesField := func(id, allowed, doc string, refuses func(field string, value any) bool) Quirk {
		return Quirk{ID: "create/" + id, Allowed: allowed, Doc: doc, Touches: []string{"create"}, Apply: func(a *Target) Middleware {
			return a.instead(func(r Request) bool {
				body, _ := objectIn(r)
				for field, value := range body {
					if r.Operation == spec.CreatePlacementTest && refuses(field, value) {
						return true
					}
				}
				return false
			}, func(Request) Response { return refusal(http.StatusUnprocessableEntity) })
		}}
	}
	refusesQuery := func(id, allowed, doc string, status int, fits func(*Target, Request) bool) Quirk {
		return Quirk{ID: "query/" + id, Allowed: allowed, Doc: doc, Touches: []string{id}, Apply: func(a *Target) Middleware {
			return a.instead(func(r Request) bool { return fits(a, r) }, func(Request) Response { return refusal(status) })
		}}
	}
	return []Quirk{
		refusesField("empty-refused", freeText+"; whether it may be empty is not shown", "refuses empty texts, arrays and objects",
			func(field string, value any) bool { return field != "not_sending_status" && isEmpty(value) }),
		refusesField("long-refused", freeText+"; its length is not shown", "refuses texts of more than 500 characters",
			func(_ string, value any) bool { text, _ := value.(string); return len(text) > 500 }),
		refusesField("one-line", freeText+"; names and subjects have one line", "refuses line breaks in other fields than email_body and description",
			func(field string, value any) bool {
				text, _ := value.(string)
				return !slices.Contains([]string{"email_body", "description"}, field) && lines.fits(text)
			}),
		refusesField("code-form", "Resources / Inbox placement test: the form of test_code is not shown", "refuses a test_code with other characters than letters, digits, dashes and underscores",
			func(field string, value any) bool {
				text, isText := value.(string)
				return field == "test_code" && isText && !codeForm.MatchString(text)
			}),
		refusesField("schedule-idle", "Resources / Inbox placement test: which days a schedule needs is not shown", "refuses a schedule of which no day is true",
			func(field string, value any) bool {
				schedule, _ := value.(map[string]any)
				days, ok := schedule["days"].(map[string]any)
				return field == "schedule" && ok && !slices.Contains(slices.Collect(maps.Values(days)), any(true))
			}),
		{ID: "create/empty-as-absent", Allowed: spec.OpenPointOmittedFields, Doc: "leaves out optional fields of a test that are empty", Touches: []string{touchesNull},
			Apply: alike(onResource("InboxPlacementTest", func(_ string, row map[string]any) {
				for field, value := range row {
					if slices.Contains(spec.CreateOptional, field) && isEmpty(value) {
						delete(row, field)
					}
				}
			}))},
		{ID: "create/active-ends", Allowed: "States and transitions: transitions are not shown", Doc: "completes active one-time tests at once", Touches: []string{"test status", touchesRows},
			Apply: alike(func(next Handler) Handler {
				return asked(func(r Request) bool {
					body, _ := objectIn(r)
					return r.Operation == spec.CreatePlacementTest && string(encode(body["status"])) == "1" && string(encode(body["type"])) == "1"
				}, func(r *Request) {
					body, _ := objectIn(*r)
					body["status"] = 3
					r.Body = encode(body)
				})(next)
			})},
		refusesQuery("window-needs-both-ends", "Endpoints: a window has a start and an end", "refuses a window with one end", http.StatusBadRequest,
			func(a *Target, r Request) bool {
				_, start := a.queryValue(r, profile.ParamWindowStart)
				_, end := a.queryValue(r, profile.ParamWindowEnd)
				return start != end
			}),
		refusesQuery("unknown-id-404", spec.OpenPointInvalidQuery, "answers 404 to a filter with an id that does not exist", http.StatusNotFound,
			func(a *Target, r Request) bool {
				for _, key := range []string{profile.ParamTest, profile.ParamParentCampaign, profile.ParamParentCampaignNot, profile.ParamResourceIDs} {
					if id, sent := a.queryValue(r, key); sent && len(id) > 8 && id[:8] < "01000000" { // time-ordered
						return true
					}
				}
				return false
			}),
		{ID: "options/not-implemented", Allowed: spec.OpenPointESPOptions, Doc: "answers 501 to requests for provider options", Touches: []string{"options"},
			Apply: alike(options(refusal(http.StatusNotImplemented)))},
		{ID: "options/text", Allowed: spec.OpenPointESPOptions, Doc: "answers with a JSON string as the provider options", Touches: []string{"options"},
			Apply: alike(options(served("Google, Outlook")))},
	}
}

var codeForm = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// isEmpty reports whether the value is an empty text, array or object.
func isEmpty(value any) bool {
	return slices.Contains([]string{`""`, "[]", "{}"}, string(encode(value)))
}

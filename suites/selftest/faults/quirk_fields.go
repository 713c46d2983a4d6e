package faults

import (
	"bytes"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// What field quirks touch.
const (
	touchesNull  = "null"
	touchesExtra = "extra fields"
)

// fieldQuirks show additional fields, null for missing values, or nothing for
// null.
func fieldQuirks() []Quirk {
	return []Quirk{
		{ID: "fields/extra", Allowed: spec.OpenPointExtraFields, Touches: []string{touchesExtra},
			Doc:   "adds undocumented fields to every object, including errors and pages",
			Apply: alike(rewriting(anyAnswer, func(_ string, row any) []byte { return withExtra(row) }, withExtra))},
		{ID: "fields/same-names", Allowed: spec.OpenPointSameNames, Touches: []string{touchesExtra},
			Doc: "repeats a member of the first object, also in errors and pages",
			Apply: alike(onAll(func(_ Request, answer Response) Response {
				if !bytes.Contains(answer.Body, []byte("{")) {
					return answer
				}
				return insideObject(`"_note":"a","_note":"b"`)(answer)
			}))},
		{ID: "fields/extra-per-view", Allowed: spec.OpenPointExtraFields, Touches: []string{touchesExtra},
			Doc: "adds undocumented fields that differ between responses", Apply: func(*Target) Middleware {
				const different = 6 // few, so that a row sometimes looks as it did before
				var views atomic.Int64
				return onAll(func(r Request, answer Response) Response {
					body, _ := decode(answer.Body)
					if answer.Status != http.StatusOK || body == nil {
						return answer
					}
					for _, row := range rowsIn(r.Operation, body) {
						n := views.Add(1) % different
						row["_view"] = n
						if n%2 == 0 {
							row["_even"] = true
						}
					}
					answer.Body = encode(body)
					return answer
				})
			}},
		{ID: "fields/page-counts", Allowed: spec.OpenPointExtraFields, Touches: []string{touchesExtra},
			Doc: "reports the total and the position on every page",
			Apply: alike(onPage(func(_ Request, page map[string]any) {
				page["total"], page["has_more"], page["prev_starting_after"] = 5, true, nil
			}))},
		{ID: "fields/retries-of-failures-only", Allowed: "Events, rule 2: it explains the fields for an attempt that failed", Touches: []string{"retries"},
			Doc: "shows will_retry, retry_count and retry_group_id only if an attempt of the delivery failed",
			Apply: alike(onResource("WebhookEvent", func(_ string, row map[string]any) {
				if succeeded(row) && !isRetry(row) { // a retry shares the group of the failed attempt
					for _, field := range spec.RetryFields {
						delete(row, field)
					}
				}
			}))},
		{ID: "fields/success-retried", Allowed: spec.OpenPointSuccessRetried, Touches: []string{"retries"},
			Doc: "shows will_retry as true for attempts that succeeded",
			Apply: alike(onResource("WebhookEvent", func(_ string, row map[string]any) {
				if succeeded(row) {
					row["will_retry"] = true
				}
			}))},
		{ID: "fields/retried-elsewhere", Allowed: spec.OpenPointRetryURL, Touches: []string{"retries", touchesRows, touchesCursor},
			Doc: "retries at the URL that the subscriber has now", Apply: (*Target).retryingElsewhere},
		{ID: "fields/null-omitted", Allowed: spec.OpenPointOmittedFields, Touches: []string{touchesNull},
			Doc: "omits every field whose value would be null",
			Apply: alike(onResource("", func(_ string, row map[string]any) {
				maps.DeleteFunc(row, func(_ string, value any) bool { return value == nil })
			}))},
	}
}

// withExtra encodes a value to which addExtra adds fields.
func withExtra(value any) []byte {
	addExtra("", value)
	return encode(value)
}

// addExtra adds a field to every object in a value, unless its keys (days) or
// its values (a lead's payload) are documented.
func addExtra(under string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			addExtra(name, member)
		}
		switch under {
		case "days":
		case "payload":
			value["undocumented"] = "a custom variable"
		default:
			value["undocumented"] = map[string]any{"a/b~c": []any{1, nil, "ü"}, "": false}
		}
	case []any:
		for _, item := range value {
			addExtra(under, item)
		}
	}
}

// sparseQuirks omit every optional field, one resource at a time. A field that
// is never shown cannot be judged.
func sparseQuirks() []Quirk {
	var quirks []Quirk
	for _, s := range []struct {
		resource, id, doc string
		keep              []string // kept, because another sentence requires it
		unassessed        []string
	}{
		{"Campaign", "campaigns", "campaigns", nil, nil},
		{"Lead", "leads", "leads", []string{"subsequence_id"}, nil}, // a move answers with it
		{"Subsequence", "subsequences", "subsequences", nil, nil},
		{"WorkspaceMember", "members", "members", nil, nil},
		{"DFYEmailAccountOrder", "orders", "orders", nil, nil},
		{"LeadLabel", "labels", "labels", nil, nil},
		{"PhoneNumber", "phone-numbers", "phone numbers", nil, nil},
		// A failed attempt tells of its retries, and a planned one has a time.
		{"WebhookEvent", "events", "webhook events", append([]string{"timestamp_next_retry"}, spec.RetryFields...),
			[]string{"FILTER-SEARCH_EMAIL-*", "EVENT-RETRY-*"}},
	} {
		omitted := conditional(s.resource, s.keep)
		quirks = append(quirks, Quirk{ID: "fields/sparse-" + s.id, Allowed: spec.OpenPointOmittedFields, Touches: []string{"fields of " + s.doc, touchesTexts},
			Doc: "shows only the mandatory fields of " + s.doc, Unassessed: slices.Concat(requirementsOn(s.resource, omitted), s.unassessed),
			Apply: alike(onResource(s.resource, func(_ string, row map[string]any) { omit(omitted, "", row) }))})
	}
	return quirks
}

// conditional returns the paths of a resource's optional fields. Days stay,
// because a schedule has at least one.
func conditional(resource string, keep []string) map[string]bool {
	paths := map[string]bool{}
	for _, f := range spec.Fields() {
		name := f.Path[strings.LastIndex(f.Path, ".")+1:]
		if f.Resource == resource && !f.Required && name != "ITEM" && name != "ENTRY" && !slices.Contains(keep, f.Path) {
			paths[f.Path] = true
		}
	}
	return paths
}

// requirementsOn returns every requirement on the fields and their parts.
func requirementsOn(resource string, paths map[string]bool) []string {
	var ids []string
	for _, f := range spec.Fields() {
		if f.Resource != resource {
			continue
		}
		for path := range paths {
			if f.Path == path || strings.HasPrefix(f.Path, path+".") {
				ids = append(ids, f.Requirement(spec.Type), f.Requirement(spec.Value), f.Requirement(spec.Present))
				break
			}
		}
	}
	return ids
}

// omit removes the fields at the paths from a value.
func omit(paths map[string]bool, at string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			path := strings.TrimPrefix(at+"."+name, ".")
			if paths[path] {
				delete(value, name)
				continue
			}
			omit(paths, path, member)
		}
	case []any:
		for _, item := range value {
			omit(paths, at+".ITEM", item)
		}
	}
}

// retryingElsewhere shows another URL for retries, and finds them by it.
func (a *Target) retryingElsewhere() Middleware {
	shown := func(row map[string]any) string {
		url := textOf(row, "webhook_url")
		if isRetry(row) {
			url += "/moved"
		}
		return url
	}
	term := func(r Request) string {
		name, _ := a.Profile.Parameter(r.Operation, profile.ParamSearch)
		return r.Query.Get(name)
	}
	search := anchored{target: a, without: []string{profile.ParamSearch},
		serves: func(r Request) bool { return r.Operation == spec.ListWebhookEvents && term(r) != "" },
		choose: func(r Request, rows []ranked) []ranked {
			return slices.DeleteFunc(rows, func(row ranked) bool { return shown(row.fields) != term(r) && row.text("lead_email") != term(r) })
		}}.apply
	write := onResource("WebhookEvent", func(_ string, row map[string]any) { row["webhook_url"] = shown(row) })
	return func(next Handler) Handler { return write(search(next)) }
}

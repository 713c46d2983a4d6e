package faults

import (
	"maps"
	"net/mail"
	"slices"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// queryQuirks read query parameters in legal ways.
func queryQuirks() []Quirk {
	unknownCursor := func(id, doc string, r rule) Quirk {
		return quirk("query/unknown-cursor-"+id, spec.OpenPointUnknownCursor, "unknown cursors", doc, r)
	}
	window := func(id, doc string, start, end time.Duration) Quirk {
		return quirk("query/window-"+id, spec.OpenPointWindowEnds, "window", doc, on(spec.ListPlacementReports, always,
			then(changeParam(profile.ParamWindowStart, later(start)), changeParam(profile.ParamWindowEnd, later(end)))))
	}
	longAgo := func(id string) bool { return len(id) > 8 && id < "01000000" } // ids are time-ordered
	return []Quirk{
		quirk("query/unknown-refused", spec.OpenPointUnknownQuery, "unknown queries", "refuses unknown query parameters",
			instead(hasUnknown, refuse(400))),
		quirk("query/invalid-ignored", spec.OpenPointInvalidQuery, "invalid queries", "ignores a filter with an invalid value", when(paged, ignoreInvalid)),
		unknownCursor("first-page", "shows the first page for an unknown cursor", when(oddCursor, dropParam(profile.ParamStartingAfter))),
		unknownCursor("empty-page", "shows an empty page for an unknown cursor", instead(oddCursor, showNothing)),
		unknownCursor("404", "answers 404 for an unknown cursor", instead(oddCursor, reply(plain(404, "text/plain", "no such page")))),
		quirk("query/contradiction-refused", spec.OpenPointInvalidQuery, "contradictions", "refuses to list the subsequences of the campaign that the query excludes",
			instead(func(x *exchange) bool {
				campaign := x.param(profile.ParamParentCampaign)
				return campaign != "" && campaign == x.param(profile.ParamParentCampaignNot)
			}, refuse(400))),
		quirk("query/window-needs-both-ends", "Endpoints: a window has a start and an end", "window-needs-both-ends", "refuses a window with one end",
			instead(func(x *exchange) bool {
				return has(profile.ParamWindowStart)(x) != has(profile.ParamWindowEnd)(x)
			}, refuse(400))),
		quirk("query/unknown-id-404", spec.OpenPointInvalidQuery, "unknown-id-404", "answers 404 to a filter with an id that does not exist",
			instead(func(x *exchange) bool { return paged(x) && slices.ContainsFunc(x.namedIDs(), longAgo) }, refuse(404))),
		window("exclusive", "omits reports at both ends of a window", time.Millisecond, -time.Millisecond),
		window("half-open", "omits reports at the end of a window", 0, -time.Millisecond),
	}
}

// hasUnknown is a request with a parameter that no sentence mentions.
func hasUnknown(x *exchange) bool {
	unknown := maps.Clone(x.Query)
	for _, op := range spec.Operations() {
		for _, p := range op.Query {
			unknown.Del(x.parameterName(p.Key))
		}
	}
	return len(unknown) > 0
}

// ignoreInvalid drops parameters with other values than the documented ones.
func ignoreInvalid(x *exchange) {
	for _, p := range spec.MustOperation(x.Operation).Query {
		if p.Values != nil && !slices.Contains(p.Values, x.param(p.Key)) {
			dropParam(p.Key)(x)
		}
	}
}

// oddCursor is a request with a cursor of none of the three kinds, which no page returned.
func oddCursor(x *exchange) bool {
	cursor := x.param(profile.ParamStartingAfter)
	_, notTime := time.Parse(time.RFC3339Nano, cursor)
	_, notAddress := mail.ParseAddress(cursor)
	return paged(x) && cursor != "" && !isUUID(cursor) && notTime != nil && notAddress != nil
}

// later moves a timestamp.
func later(by time.Duration) func(text string) string {
	return func(text string) string {
		if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
			return written(at.Add(by))
		}
		return text
	}
}

package faults

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/spec"
)

// mistake is an error in a field's value.
type mistake struct {
	name   string // its part of defect ids
	what   string // in words
	absent bool   // the field is missing
	wrong  func(value any) bool
}

// Mistakes in a value's type.
var (
	leftOut    = mistake{name: "missing", absent: true}
	aNumber    = mistake{name: "number", what: "a number", wrong: isNumber}
	aText      = mistake{name: "text", what: "a string", wrong: isText}
	aNull      = mistake{name: "null", what: "null", wrong: func(v any) bool { return v == nil }}
	anObject   = mistake{name: "object", what: "an object", wrong: isObject}
	anArray    = mistake{name: "array", what: "an array", wrong: isArray}
	aBool      = mistake{name: "boolean", what: "a boolean", wrong: isBool}
	boolItem   = mistake{name: "boolean-item", what: "a boolean among the items", wrong: someItem(isBool)}
	objectItem = mistake{name: "object-item", what: "an object among the items", wrong: someItem(isObject)}
	textItem   = mistake{name: "text-item", what: "a string among the items", wrong: someItem(isText)}
	arrayItem  = mistake{name: "array-item", what: "an array among the items", wrong: someItem(isArray)}
	numberItem = mistake{name: "number-item", what: "a number among the items", wrong: someItem(isNumber)}
	nullItem   = mistake{name: "null-item", what: "null among the items", wrong: someItem(func(v any) bool { return v == nil })}
)

// Mistakes in a value of the right type.
var (
	empty      = mistake{name: "empty", what: "an empty array", wrong: func(v any) bool { return isArray(v) && len(v.([]any)) == 0 }}
	noUUID     = mistake{name: "word", what: "a word instead of a UUID", wrong: isNoUUID}
	noAddress  = mistake{name: "word", what: "a word instead of the addresses", wrong: someItem(func(v any) bool { return isText(v) && !strings.Contains(v.(string), "@") })}
	noUUIDItem = mistake{name: "word-item", what: "a word instead of a UUID among the items", wrong: someItem(isNoUUID)}
	noMoment   = mistake{name: "word", what: "a word instead of a timestamp", wrong: func(v any) bool {
		text, ok := v.(string)
		_, err := time.Parse(time.RFC3339Nano, text)
		return ok && err != nil
	}}
	noTimeOfDay = mistake{name: "impossible", what: "an impossible time of day", wrong: func(v any) bool {
		text, ok := v.(string)
		return ok && !timeOfDay.MatchString(text)
	}}
	digitBefore = timeWithin("digit-before", "a time of day after another digit", regexp.MustCompile(`[0-9](`+clock+`)$`))
	digitAfter  = timeWithin("digit-after", "a time of day before another digit", regexp.MustCompile(`^(`+clock+`)[0-9]`))
	noTimezone  = mistake{name: "unlisted", what: "an unlisted timezone", wrong: func(v any) bool {
		text, ok := v.(string)
		return ok && !slices.Contains(dataset.Timezones(), text)
	}}
	likeTimezone = mistake{name: "like-listed", what: "an unlisted timezone in the form of a listed one", wrong: func(v any) bool {
		text, ok := v.(string)
		return ok && strings.Contains(text, "/") && !slices.Contains(dataset.Timezones(), text)
	}}
	realTimezone = mistake{name: "real", what: "a timezone that exists and is not listed", wrong: func(v any) bool {
		text, ok := v.(string)
		_, err := time.LoadLocation(text)
		return ok && err == nil && !slices.Contains(dataset.Timezones(), text)
	}}
	likeNotSending = mistake{name: "like-listed", what: "a string that begins as a listed one", wrong: func(v any) bool {
		text, ok := v.(string)
		return ok && text != "daily_limits_hit" && strings.HasPrefix(text, "daily_limits_hit")
	}}
	unlistedNotSending = mistake{name: "unlisted", what: "an unlisted string", wrong: func(v any) bool {
		text, ok := v.(string)
		return ok && !slices.Contains([]string{"", "daily_limits_hit", "other"}, text)
	}}
	aFraction = mistake{name: "fraction", what: "a fraction", wrong: func(v any) bool {
		number, ok := v.(json.Number)
		_, err := number.Int64()
		return ok && err != nil
	}}
	tooLow = mistake{name: "too-low", what: "a number below the range", wrong: func(v any) bool {
		n, ok := wholeNumber(v)
		return ok && n < 1
	}}
)

// timeOfDay is the pattern of the section Resources / Campaign.
var timeOfDay = regexp.MustCompile(`^(` + clock + `)$`)

const clock = `([01][0-9]|2[0-3]):([0-5][0-9])`

// timeWithin is the mistake of a pattern that is anchored at one end only.
func timeWithin(name, what string, pattern *regexp.Regexp) mistake {
	return mistake{name: name, what: what, wrong: func(v any) bool {
		text, ok := v.(string)
		return ok && pattern.MatchString(text)
	}}
}

// above returns the mistake of a number above the range.
func above(most int64) mistake {
	return mistake{name: "too-high", what: "a number above the range", wrong: func(v any) bool {
		n, ok := wholeNumber(v)
		return ok && n > most
	}}
}

// inPart returns a mistake in a part of an object. The path is dotted, and
// ENTRY means any member.
func inPart(path string, m mistake) mistake {
	name, rest, deeper := strings.Cut(path, ".")
	inner := m
	if deeper {
		inner = inPart(rest, m)
	}
	return mistake{
		name: strings.ToLower(strings.ReplaceAll(path, ".", "-")) + "-" + m.name,
		what: m.what + " for " + path,
		wrong: func(v any) bool {
			object, _ := v.(map[string]any)
			for member, value := range object {
				if (member == name || name == "ENTRY") && inner.wrong(value) {
					return true
				}
			}
			return false
		},
	}
}

// bodyFields lists the mistakes in bodies that the sections Resources and
// Endpoints rule out.
var bodyFields = slices.Concat(createFields(), []bodyField{
	{spec.AddCampaignVariables, "REQUEST-REQUIRED-VARIABLES", "variables", []mistake{leftOut}},
	{spec.AddCampaignVariables, "REQUEST-INVALID-VARIABLES", "variables", slices.Concat(noArray, []mistake{nullItem, objectItem, arrayItem})},
	{spec.MoveLead, "REQUEST-INVALID-ID", "id", slices.Concat(noText, []mistake{noUUID})},
	{spec.MoveLead, "REQUEST-INVALID-SUBSEQUENCE_ID", "subsequence_id", slices.Concat(noText, []mistake{noUUID})},
	{spec.MoveAccounts, "REQUEST-EMAILS-EMPTY", "emails", []mistake{empty}},
	{spec.MoveAccounts, "REQUEST-INVALID-ACCOUNT_EMAILS", "emails", slices.Concat(noArray, []mistake{nullItem, numberItem, boolItem, objectItem, arrayItem, noAddress})},
	{spec.MoveAccounts, "REQUEST-INVALID-SOURCE_WORKSPACE_ID", "source_workspace_id", slices.Concat(noText, []mistake{noUUID})},
	{spec.MoveAccounts, "REQUEST-INVALID-DESTINATION_WORKSPACE_ID", "destination_workspace_id", slices.Concat(noText, []mistake{noUUID})},
})

// createMistakes lists the mistakes in the body that creates a test.
var createMistakes = map[string][]mistake{
	"name":           slices.Concat(noFreeText, []mistake{aNull}),
	"type":           slices.Concat(noSmallNumber, []mistake{aNull, above(2)}),
	"sending_method": slices.Concat(noSmallNumber, []mistake{aNull, above(2)}),
	"email_subject":  slices.Concat(noFreeText, []mistake{aNull}),
	"email_body":     slices.Concat(noFreeText, []mistake{aNull}),
	"emails":         slices.Concat(noArray, []mistake{aNull, nullItem, objectItem, arrayItem}),
	"delivery_mode":  slices.Concat(noSmallNumber, []mistake{above(2)}),
	"description":    noFreeText,
	"schedule": slices.Concat([]mistake{aText, aNumber, aBool, anArray}, within("days", aText, aNumber, aBool, anArray),
		within("days.ENTRY", aText, aNumber, anObject, anArray), within("timing", aText, aNumber, aBool, anArray),
		within("timing.from", aNumber, aBool, anObject, anArray, noTimeOfDay, digitBefore, digitAfter), within("timezone", aNumber, aBool, anObject, anArray, noTimezone, likeTimezone, realTimezone)),
	"campaign_id":        slices.Concat(noText, []mistake{noUUID, unknownCampaign}),
	"test_code":          noFreeText,
	"tags":               slices.Concat(noArray, []mistake{nullItem, numberItem, boolItem, objectItem, arrayItem, noUUIDItem}),
	"text_only":          noBool,
	"recipients_labels":  slices.Concat(noArray, []mistake{nullItem, numberItem, boolItem, textItem, arrayItem}),
	"timestamp_next_run": slices.Concat(noText, []mistake{noMoment}),
	"automations":        slices.Concat(noArray, []mistake{nullItem, numberItem, boolItem, textItem, arrayItem}),
	"status":             slices.Concat(noSmallNumber, []mistake{above(3)}),
	"not_sending_status": slices.Concat(noText, []mistake{unlistedNotSending, likeNotSending}),
	"run_immediately":    noBool,
}

// Mistakes in the values of fields of a type.
var (
	noText        = []mistake{aNumber, aBool, anObject, anArray}
	noFreeText    = []mistake{anObject, anArray} // a lenient server may turn a number or a boolean into a text
	noBool        = []mistake{aText, aNumber, anObject, anArray}
	noArray       = []mistake{aText, aNumber, aBool, anObject}
	noSmallNumber = []mistake{aText, anObject, anArray, aFraction, tooLow}
)

// within returns the mistakes in a part of an object.
func within(path string, mistakes ...mistake) []mistake {
	var all []mistake
	for _, m := range mistakes {
		all = append(all, inPart(path, m))
	}
	return all
}

func createFields() []bodyField {
	var fields []bodyField
	add := func(kind, field string, mistakes ...mistake) {
		fields = append(fields, bodyField{spec.CreatePlacementTest, "REQUEST-" + kind + "-" + strings.ToUpper(field), field, mistakes})
	}
	for _, field := range spec.CreateRequired {
		add("REQUIRED", field, leftOut)
	}
	for _, field := range slices.Concat(spec.CreateRequired, spec.CreateOptional) {
		add("INVALID", field, createMistakes[field]...)
	}
	return fields
}

// unknownCampaign is a version 7 id of a time before the service existed.
var unknownCampaign = mistake{name: "unknown", what: "the id of no campaign", wrong: func(v any) bool {
	return isText(v) && isUUID(v.(string)) && strings.HasPrefix(v.(string), "00")
}}

func isNumber(v any) bool { _, ok := v.(json.Number); return ok }
func isText(v any) bool   { _, ok := v.(string); return ok }
func isBool(v any) bool   { _, ok := v.(bool); return ok }
func isObject(v any) bool { _, ok := v.(map[string]any); return ok }
func isArray(v any) bool  { _, ok := v.([]any); return ok }

func someItem(is func(any) bool) func(any) bool {
	return func(v any) bool {
		items, _ := v.([]any)
		return slices.ContainsFunc(items, is)
	}
}

// afterValid returns the mistake among the items of an array whose first item is valid.
func afterValid(m mistake) mistake {
	return mistake{name: m.name + "-later", what: m.what + " after a valid one", wrong: func(v any) bool {
		items, _ := v.([]any)
		return len(items) > 1 && !m.wrong(items[:1]) && m.wrong(v)
	}}
}

// isNoUUID reports whether the value is a string but not a UUID.
func isNoUUID(v any) bool {
	text, ok := v.(string)
	return ok && !isUUID(text)
}

// isUUID accepts only the form with dashes.
func isUUID(text string) bool {
	_, err := uuid.Parse(text)
	return err == nil && len(text) == 36
}

// wholeNumber returns a decoded integer.
func wholeNumber(v any) (int64, bool) {
	number, _ := v.(json.Number)
	n, err := number.Int64()
	return n, err == nil
}

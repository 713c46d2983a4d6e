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
	numberItem = mistake{name: "number-item", what: "a number among the items", wrong: someItem(isNumber)}
)

// Mistakes in a value of the right type.
var (
	empty      = mistake{name: "empty", what: "an empty array", wrong: func(v any) bool { return isArray(v) && len(v.([]any)) == 0 }}
	noUUID     = mistake{name: "word", what: "a word instead of a UUID", wrong: isNoUUID}
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
	noTimezone = mistake{name: "unlisted", what: "an unlisted timezone", wrong: func(v any) bool {
		text, ok := v.(string)
		return ok && !slices.Contains(dataset.Timezones(), text)
	}}
	unlistedNotSending = mistake{name: "unlisted", what: "an unlisted string", wrong: func(v any) bool {
		text, ok := v.(string)
		return ok && !slices.Contains([]string{"", "daily_limits_hit", "other"}, text)
	}}
	tooLow = mistake{name: "too-low", what: "a number below the range", wrong: func(v any) bool {
		n, ok := wholeNumber(v)
		return ok && n < 1
	}}
)

// timeOfDay is the pattern of the section Resources / Campaign.
var timeOfDay = regexp.MustCompile(`^([01][0-9]|2[0-3]):([0-5][0-9])$`)

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
	{spec.AddCampaignVariables, "REQUEST-INVALID-VARIABLES", "variables", []mistake{aText, anObject, numberItem}},
	{spec.MoveLead, "REQUEST-INVALID-ID", "id", []mistake{aNumber, noUUID}},
	{spec.MoveLead, "REQUEST-INVALID-SUBSEQUENCE_ID", "subsequence_id", []mistake{aNumber, noUUID}},
	{spec.MoveAccounts, "REQUEST-EMAILS-EMPTY", "emails", []mistake{empty}},
	{spec.MoveAccounts, "REQUEST-INVALID-ACCOUNT_EMAILS", "emails", []mistake{aText, numberItem}},
	{spec.MoveAccounts, "REQUEST-INVALID-SOURCE_WORKSPACE_ID", "source_workspace_id", []mistake{aNumber, noUUID}},
	{spec.MoveAccounts, "REQUEST-INVALID-DESTINATION_WORKSPACE_ID", "destination_workspace_id", []mistake{aNumber, noUUID}},
})

// createMistakes lists the mistakes in the body that creates a test.
var createMistakes = map[string][]mistake{
	"name":           {aNumber, anObject, aNull},
	"type":           {aText, aNull, tooLow, above(2)},
	"sending_method": {aText, aNull, tooLow, above(2)},
	"email_subject":  {aNumber, anObject, aNull},
	"email_body":     {aNumber, anObject, aNull},
	"emails":         {aText, aNull, numberItem},
	"delivery_mode":  {aText, above(2)},
	"description":    {aNumber},
	"schedule": {aText, inPart("days", anArray), inPart("days.ENTRY", aText), inPart("timing.from", aNumber),
		inPart("timing.from", noTimeOfDay), inPart("timezone", noTimezone)},
	"campaign_id":        {aNumber, noUUID},
	"test_code":          {aNumber},
	"tags":               {aText, numberItem, noUUIDItem},
	"text_only":          {aText},
	"recipients_labels":  {aText, numberItem},
	"timestamp_next_run": {aNumber, noMoment},
	"automations":        {aText, numberItem},
	"status":             {aText, above(3)},
	"not_sending_status": {aNumber, unlistedNotSending},
	"run_immediately":    {aText},
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

func isNumber(v any) bool { _, ok := v.(json.Number); return ok }
func isText(v any) bool   { _, ok := v.(string); return ok }
func isObject(v any) bool { _, ok := v.(map[string]any); return ok }
func isArray(v any) bool  { _, ok := v.([]any); return ok }

func someItem(is func(any) bool) func(any) bool {
	return func(v any) bool {
		items, _ := v.([]any)
		return slices.ContainsFunc(items, is)
	}
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

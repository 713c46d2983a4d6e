package faults

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"outreach.example/conformance/schemas/variants"
	"outreach.example/conformance/spec"
)

// documentDefects refuse or change one of the values, or one of the forms, that the
// document allows for a request, and take one that it rules out.
func documentDefects() []Defect {
	return slices.Concat(valueRefusals(), valueLosses(), orderDefects(), choiceDefects(), nullBodyDefects(),
		queryValueDefects(), invalidQueryDefects(), oddQueryDefects(), specialSearchDefects(), optionsServedDefects())
}

// documentValue is a kind of values of a field of the body that creates a test.
type documentValue struct {
	field, name, what string
	is                func(value any) bool
	spoilt            func(value any) any // what a server shows instead
}

// documentValues lists values that few bodies hold. Values that every body holds, such as
// the type 1, are left out: without them nothing is created.
func documentValues() []documentValue {
	var all []documentValue
	for _, field := range []string{"name", "email_subject", "email_body", "description"} {
		for _, class := range textClasses {
			all = append(all, class.in(field))
		}
	}
	for _, field := range []string{"email_body", "description"} {
		all = append(all, lines.in(field))
	}
	for _, field := range []string{"type", "sending_method", "delivery_mode", "status", "not_sending_status", "text_only", "timestamp_next_run"} {
		values := slices.DeleteFunc(variants.Member(spec.CreatePlacementTest, field).Valid, func(v variants.Variant) bool { return v.Value == nil || v.Value == "" })
		for i, v := range values {
			if usual[field] != v.What {
				all = append(all, documentValue{field, slug(v.What), v.What, equal(v.Value), constant(values[(i+1)%len(values)].Value)})
			}
		}
	}
	return append(all, scheduleValues()...)
}

// usual are values that every body holds.
var usual = map[string]string{"type": "1", "sending_method": "2"}

// in returns the texts of the class in a field.
func (c textClass) in(field string) documentValue {
	return documentValue{field, c.name, c.what, func(value any) bool { text, ok := value.(string); return ok && c.fits(text) },
		func(value any) any { return c.spoilt(value.(string)) }}
}

// scheduleValues are values of parts of a schedule: some timezones, both ends of the day,
// single days.
func scheduleValues() []documentValue {
	zones := slices.DeleteFunc(variants.Member(spec.CreatePlacementTest, "schedule").Valid, func(v variants.Variant) bool { return !strings.HasPrefix(v.What, "timezone: ") })
	var all []documentValue
	part := func(name, what, member string, is func(any) bool, spoilt any) {
		all = append(all, documentValue{"schedule", name, what,
			func(value any) bool { object, _ := value.(map[string]any); return is(object[member]) },
			func(value any) any { return with(value, member, spoilt) }})
	}
	for i := 3; i < len(zones); i += 14 {
		zone := zones[i].Value.(map[string]any)["timezone"]
		part("in-"+slug(zone.(string)), "the timezone "+zone.(string), "timezone", equal(zone), "Etc/GMT-13")
	}
	for _, time := range []string{"00:00", "23:59"} {
		from := map[string]any{"from": time}
		part("at-"+strings.Replace(time, ":", "", 1), "the time "+time, "timing", equal(from), map[string]any{"from": "12:00"})
	}
	part("only-day-0", "only the day 0", "days", equal(map[string]any{"0": true}), map[string]any{"0": false})
	part("only-day-6", "only the day 6", "days", equal(map[string]any{"6": true}), map[string]any{})
	return all
}

// with returns a copy of an object with another value of a member.
func with(value any, member string, by any) any {
	object, _ := value.(map[string]any)
	again := maps.Clone(object)
	again[member] = by
	return again
}

// equal compares values as JSON.
func equal(want any) func(any) bool {
	encoded := string(encode(want))
	return func(value any) bool { return string(encode(value)) == encoded }
}

// slug turns words into a part of an id.
func slug(words string) string {
	return strings.Trim(strings.Join(strings.FieldsFunc(strings.ToLower(words), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), "-"), "-")
}

// valueRefusals refuse bodies with one of the values.
func valueRefusals() []Defect {
	var defects []Defect
	for i, v := range documentValues() {
		status := []int{http.StatusBadRequest, http.StatusInternalServerError}[i%2]
		defects = append(defects, breaking("STATE-CREATE-"+strings.ToUpper(v.field), spec.CreatePlacementTest,
			slug(v.field)+"-"+v.name+"-refused", "refuses a body with "+v.what+" in "+v.field,
			where(spec.CreatePlacementTest, func(r Request) bool {
				body, ok := objectIn(r)
				value, sent := body[v.field]
				return ok && sent && v.is(value)
			}, refusing(status))))
	}
	return defects
}

// valueLosses show one of the values differently, each in one view. A long text is cut.
func valueLosses() []Defect {
	var defects []Defect
	values := documentValues()
	for _, field := range []string{"email_body", "description"} {
		values = append(values, longTextClass.in(field))
	}
	for i, v := range values {
		if v.field == "status" && v.name == "1" { // the specification leaves open when an active test ends
			continue
		}
		view := testViews[i%len(testViews)]
		defects = append(defects, breaking("STATE-CREATE-"+strings.ToUpper(v.field), view,
			slug(v.field)+"-"+v.name+"-changed", "shows another "+v.field+" of a test created with "+v.what,
			onCreated(view, v.field, func(row map[string]any, sent any) {
				if v.is(sent) {
					row[v.field] = v.spoilt(sent)
				}
			})))
	}
	return defects
}

package faults

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/schemas/variants"
	"outreach.example/conformance/spec"
)

// queryValue returns a parameter of the request, by its key, and whether it was sent.
func (a *Target) queryValue(r Request, key string) (string, bool) {
	name, known := a.Profile.Parameter(r.Operation, key)
	return r.Query.Get(name), known && r.Query.Has(name)
}

// queryValueDefects refuse one of the values that the document allows for a parameter.
func queryValueDefects() []Defect {
	const requirement = "QUERY-ACCEPTED"
	var defects []Defect
	add := func(operation, key, name, what string, fits func(value string) bool) {
		status := []int{http.StatusBadRequest, http.StatusInternalServerError, http.StatusNotFound}[len(defects)%3]
		by := asker{slug(key) + "-" + name, what + " for " + key, func(a *Target, r Request) bool {
			value, sent := a.queryValue(r, key)
			return sent && fits(value)
		}}
		defects = append(defects, whenAsked(operation, requirement, by, "unaccepted", "answers "+strconv.Itoa(status)+" to %s",
			func(*Target) behaviour { return refusing(status) }))
	}
	for _, operation := range boundTo(requirement) {
		for _, part := range variants.Query(operation) {
			key := profile.CustomaryKey(operation, part.Name)
			switch {
			case key == profile.ParamSearch && operation == spec.ListWebhookEvents: // only URLs and addresses must be served
			case key == profile.ParamSearch:
				for _, class := range textClasses {
					add(operation, key, class.name, class.what, class.fits)
				}
			case part.Name != "limit" && part.Name != profile.ParamStartingAfter:
				for _, v := range part.Valid {
					text := fmt.Sprint(v.Value)
					add(operation, key, slug(text), text, func(value string) bool { return value == text })
				}
			}
		}
	}
	return defects
}

// invalidQueryDefects answer 500 to one of the values that the document rules out.
func invalidQueryDefects() []Defect {
	var defects []Defect
	for _, op := range spec.Operations() {
		for _, part := range variants.Query(op.ID) {
			if part.Name == "limit" || len(part.Invalid) == 0 {
				continue
			}
			key := profile.CustomaryKey(op.ID, part.Name)
			by := asker{"invalid-" + slug(key), "a request with an invalid " + key, func(a *Target, r Request) bool {
				value := a.valueOf(r, part.Name)
				return slices.ContainsFunc(part.Invalid, func(v variants.Variant) bool { return fmt.Sprint(v.Value) == value })
			}}
			defects = append(defects, misrefused(op.ID, "STATUS-ALLOWED", by, http.StatusInternalServerError)...)
		}
	}
	return defects
}

// valueOf returns the value of the parameter that the document calls by that name.
func (a *Target) valueOf(r Request, name string) string { return r.Query.Get(a.nameOf(r, name)) }

// nameOf returns the target's name of the parameter that the document calls by that name.
func (a *Target) nameOf(r Request, name string) string {
	if own, known := a.Profile.Parameter(r.Operation, profile.CustomaryKey(r.Operation, name)); known {
		return own
	}
	return name
}

// oddQueryDefects answer 500 to an odd value of a parameter. Each parameter has one of the
// kinds of such values, and a boolean another one.
func oddQueryDefects() []Defect {
	kinds := []struct {
		name, what string
		is         func(values []string) bool
	}{
		{"empty", "an empty", func(values []string) bool { return values[0] == "" }},
		{"blank", "a blank", func(values []string) bool { return values[0] == " " }},
		{"control-character", "a control character as", func(values []string) bool { return values[0] == "\x00" }},
		{"repeated", "a repeated", func(values []string) bool { return len(values) > 1 }},
		{"stands-for-boolean", "a text that stands for a boolean as", func(values []string) bool {
			return slices.Contains([]string{"TRUE", "1", "yes"}, values[0])
		}},
	}
	var defects []Defect
	add := func(operation, name string, kind int) {
		k := kinds[kind]
		by := asker{k.name + "-" + slug(name), "a request with " + k.what + " " + name, func(a *Target, r Request) bool {
			values := r.Query[a.nameOf(r, name)]
			return len(values) > 0 && k.is(values)
		}}
		defects = append(defects, misrefused(operation, "STATUS-ALLOWED", by, http.StatusInternalServerError)...)
	}
	for _, op := range spec.Operations() {
		for i, part := range variants.Query(op.ID) {
			if part.Name == "limit" {
				continue
			}
			add(op.ID, part.Name, i%4)
			if len(part.Valid) > 0 {
				if _, isBool := part.Valid[0].Value.(bool); isBool {
					add(op.ID, part.Name, 4)
				}
			}
		}
	}
	return defects
}

// specialSearchDefects find nothing for a text with special characters that occurs.
func specialSearchDefects() []Defect {
	const requirement = "FILTER-SEARCH-MISSING"
	var defects []Defect
	for _, operation := range boundTo(requirement) {
		for _, class := range textClasses {
			if operation != spec.ListPlacementTests && !slices.Contains(classesInRows, class.name) {
				continue
			}
			by := asker{"search-" + class.name, "a search for " + class.what, func(a *Target, r Request) bool {
				value, sent := a.queryValue(r, profile.ParamSearch)
				return sent && class.fits(value)
			}}
			defects = append(defects, whenAsked(operation, requirement, by, "finds-nothing", "finds nothing for %s",
				func(*Target) behaviour { return showingNothing }))
		}
	}
	return defects
}

// classesInRows are those of names that occur in every list that can be searched.
var classesInRows = []string{"percent", "quote", "backslash", "emoji"}

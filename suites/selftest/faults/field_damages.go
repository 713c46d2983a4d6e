package faults

import (
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
)

// damage turns a field's value into another valid one.
type damage struct {
	name string                // its part of a defect's id
	doc  string                // the result, after "shows the field"
	of   func(any) (any, bool) // false omits the field
}

// apply damages the row's field unless it is null or absent.
func (d damage) apply(row map[string]any, field string) {
	value := row[field]
	if value == nil {
		return
	}
	if damaged, shown := d.of(value); shown {
		row[field] = damaged
	} else {
		delete(row, field)
	}
}

// on returns a damage for values of one type; other values stay the same.
func on[T any](name, doc string, of func(T) any) damage {
	return damage{name, doc, func(value any) (any, bool) {
		if typed, ok := value.(T); ok {
			return of(typed), true
		}
		return value, true
	}}
}

// Damages to texts.
var (
	cutShort = on("cut-short", "without its last character", func(s string) any {
		runes := []rune(s)
		return string(runes[:max(0, len(runes)-1)])
	})
	caseFlipped = on("case-flipped", "with upper and lower case swapped", func(s string) any {
		return strings.Map(func(r rune) rune {
			if unicode.IsUpper(r) {
				return unicode.ToLower(r)
			}
			return unicode.ToUpper(r)
		}, s)
	})
	markupEscaped = on("escaped", "with escaped markup", func(s string) any { return html.EscapeString(s) })
	recoded       = on("recoded", "with its UTF-8 read as Latin-1", func(s string) any {
		var b strings.Builder
		for _, octet := range []byte(s) {
			b.WriteRune(rune(octet))
		}
		return b.String()
	})
	hourLater = on("hour-later", "one hour late", func(s string) any {
		t, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			return s
		}
		return t.UTC().Add(time.Hour).Format("2006-01-02T15:04:05.000Z")
	})
	otherID = on("other-id", "as a different id", func(s string) any { return anotherID(s) })
)

// Damages to texts that few requests hold.
var (
	blanksJoined = on("blanks-joined", "with one blank for several", func(s string) any { return severalBlanks.ReplaceAllString(s, " ") })
	linesJoined  = on("lines-joined", "with a blank for each line separator", func(s string) any {
		return strings.NewReplacer("\u2028", " ", "\u2029", " ").Replace(s)
	})
	zerosLost = on("zeros-lost", "without its leading zeros if it is a number", func(s string) any {
		if strings.Trim(s, "0123456789") != "" || s == "" {
			return s
		}
		return strings.TrimLeft(s, "0")
	})
)

var severalBlanks = regexp.MustCompile(" +")

// anotherID returns a UUID that differs in its last digit only.
func anotherID(id string) string {
	if id == "" {
		return id
	}
	last := "0"
	if strings.HasSuffix(id, last) {
		last = "1"
	}
	return id[:len(id)-1] + last
}

// Damages to arrays and objects.
var (
	firstTwice = on("first-twice", "with its first item twice", func(items []any) any {
		if len(items) == 0 {
			return items
		}
		return slices.Concat(items[:1], items)
	})
	firstLost = on("first-lost", "without its first item", func(items []any) any { return items[min(1, len(items)):] })
	// firstAlone and firstTen keep some of the items.
	firstAlone = on("first-alone", "with its first item alone", func(items []any) any { return items[:min(1, len(items))] })
	firstTen   = on("first-ten", "with its first ten items alone", func(items []any) any { return items[:min(10, len(items))] })
	emptied    = on("emptied", "empty", func([]any) any { return []any{} })
	memberLost = on("member-lost", "without one member of its first item", func(items []any) any {
		if len(items) == 0 {
			return items
		}
		object, _ := items[0].(map[string]any)
		return slices.Concat([]any{withoutOne(object)}, items[1:])
	})
	dayLost = on("day-lost", "without one of its days", func(schedule map[string]any) any {
		schedule = maps.Clone(schedule)
		if days, ok := schedule["days"].(map[string]any); ok {
			schedule["days"] = withoutOne(days)
		}
		return schedule
	})
	firstStepTwice = on("first-step-twice", "with its first step twice", func(sequences []any) any {
		for _, sequence := range sequences {
			if sequence, ok := sequence.(map[string]any); ok {
				firstTwice.apply(sequence, "steps")
			}
		}
		return sequences
	})
)

// withoutOne returns the object without its first member.
func withoutOne(object map[string]any) map[string]any {
	object = maps.Clone(object)
	if names := slices.Sorted(maps.Keys(object)); len(names) > 0 {
		delete(object, names[0])
	}
	return object
}

// member damages a member of an object.
func member(name string, d damage) damage {
	return on(strings.ReplaceAll(name, "_", "-")+"-"+d.name, "with its "+name+" shown "+d.doc, func(object map[string]any) any {
		object = maps.Clone(object)
		d.apply(object, name)
		return object
	})
}

// Damages to values of any type.
var (
	negated = on("negated", "negated", func(b bool) any { return !b })
	nulled  = damage{"nulled", "as null", func(any) (any, bool) { return nil, true }}
	lost    = damage{"left-out", "as absent", func(any) (any, bool) { return nil, false }}
)

// another returns the damage that replaces a value with the next one of values.
func another(values ...string) damage {
	return damage{"another", "with another valid value", func(value any) (any, bool) {
		next := values[(slices.Index(values, fmt.Sprint(value))+1)%len(values)]
		if _, isNumber := value.(json.Number); isNumber {
			return json.Number(next), true
		}
		return next, true
	}}
}

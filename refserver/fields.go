package refserver

import (
	"encoding/json"
	"fmt"
	"math"
	"net/mail"
	"slices"
	"strings"
)

// reader remembers the first fault of a body.
type reader struct{ err error }

// object reads the fields of a JSON object, strictly by type. After a fault a
// reader returns a zero value; check reader.err once, at the end.
type object struct {
	at     string // where the object stands, for messages
	fields map[string]any
	*reader
}

func (o object) wrong(name, must string) {
	if o.err == nil {
		o.err = invalid("%s/%s must be %s", o.at, name, must)
	}
}

// need is a rule about the presence of a field.
type need int

const (
	required need = iota
	optional      // may be absent, but not null
	nullable      // may be absent or null
)

// value returns a field that is neither absent nor null, whose lack it judges.
func (o object) value(name string, n need, must string) (any, bool) {
	v, present := o.fields[name]
	switch {
	case present && v != nil:
		return v, true
	case !present && n == required:
		if o.err == nil {
			o.err = invalid("%s must have required property '%s'", o.at, name)
		}
	case present && n != nullable:
		o.wrong(name, must)
	}
	return nil, false
}

// read returns a field of a Go type that JSON decodes to; nil when it is absent
// or null, where it may be.
func read[T any](o object, name string, n need, must string) *T {
	v, ok := o.value(name, n, must)
	if !ok {
		return nil
	}
	typed, ok := v.(T)
	if !ok {
		o.wrong(name, must)
		return nil
	}
	return &typed
}

// or returns what p points to, or the zero value.
func or[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

func (o object) text(name string, n need) *string { return read[string](o, name, n, "a string") }

func (o object) boolean(name string, n need) *bool { return read[bool](o, name, n, "a boolean") }

// number reads a number that is one of the values.
func (o object) number(name string, n need, values ...int) *int {
	must := "one of the numbers " + strings.Trim(fmt.Sprint(values), "[]")
	digits := read[json.Number](o, name, n, must)
	if digits == nil {
		return nil
	}
	f, err := digits.Float64()
	if err != nil || f != math.Trunc(f) || !slices.Contains(values, int(f)) {
		o.wrong(name, must)
		return nil
	}
	return new(int(f))
}

// oneOf reads a string that is one of the values.
func (o object) oneOf(name string, n need, values ...string) *string {
	return o.textLike(name, n, "one of "+strings.Join(values, ", "), func(s string) (string, bool) {
		return s, slices.Contains(values, s)
	})
}

// uuid reads a UUID, which it returns in lower case.
func (o object) uuid(name string, n need) *string { return o.textLike(name, n, "a UUID", parseUUID) }

// timestamp reads a timestamp, which it returns in the service's form.
func (o object) timestamp(name string, n need) *string {
	return o.textLike(name, n, "a timestamp such as 2025-01-31T10:20:30.000Z", func(s string) (string, bool) {
		t, ok := parseTimestamp(s)
		return stamp(t), ok
	})
}

// textLike reads a string that take accepts and may bring into another form.
func (o object) textLike(name string, n need, must string, take func(string) (string, bool)) *string {
	v := read[string](o, name, n, must)
	if v == nil {
		return nil
	}
	taken, ok := take(*v)
	if !ok {
		o.wrong(name, must)
		return nil
	}
	return &taken
}

// texts reads an array of strings, each of which take accepts. It returns nil
// for an array that is absent or null, where it may be.
func (o object) texts(name string, n need, must string, take func(string) (string, bool)) []string {
	items := read[[]any](o, name, n, "an array")
	if items == nil {
		return nil
	}
	texts := make([]string, 0, len(*items))
	for i, item := range *items {
		text, ok := item.(string)
		if ok {
			text, ok = take(text)
		}
		if !ok {
			o.wrong(fmt.Sprintf("%s/%d", name, i), must)
			return nil
		}
		texts = append(texts, text)
	}
	return texts
}

// sub reads an object.
func (o object) sub(name string, n need) (object, bool) {
	fields := read[map[string]any](o, name, n, "an object")
	return object{o.at + "/" + name, or(fields), o.reader}, fields != nil
}

// subs reads an array of objects. It returns nil for an array that is absent or
// null, where it may be.
func (o object) subs(name string, n need) []object {
	items := read[[]any](o, name, n, "an array")
	if items == nil {
		return nil
	}
	objects := make([]object, 0, len(*items))
	for i, item := range *items {
		fields, ok := item.(map[string]any)
		if !ok {
			o.wrong(fmt.Sprintf("%s/%d", name, i), "an object")
			return nil
		}
		objects = append(objects, object{fmt.Sprintf("%s/%s/%d", o.at, name, i), fields, o.reader})
	}
	return objects
}

// anAddress accepts a bare email address.
func anAddress(s string) (string, bool) {
	a, err := mail.ParseAddress(s)
	return s, err == nil && a.Name == "" && a.Address == s
}

package refserver

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Page sizes (specification, section Limits). The default is not shown there.
const (
	minLimit     = 1
	maxLimit     = 100
	defaultLimit = 10
)

// query reads query parameters and remembers the first that is wrong. A reader
// returns its zero value for a parameter that is missing, empty or wrong.
type query struct {
	values url.Values
	err    error
}

func newQuery(u *url.URL) *query {
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		err = invalid("querystring cannot be read: %v", err)
	}
	return &query{values: values, err: err}
}

func (q *query) wrong(name, must string) {
	if q.err == nil {
		q.err = invalid("querystring/%s must be %s", name, must)
	}
}

// text returns the first value.
func (q *query) text(name string) string { return q.values.Get(name) }

// folded returns the text for a comparison that ignores case.
func (q *query) folded(name string) string { return strings.ToLower(q.text(name)) }

func (q *query) integer(name string, least, most, missing int) int {
	text := q.text(name)
	if text == "" {
		return missing
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		q.wrong(name, "an integer from "+strconv.Itoa(least)+" to "+strconv.Itoa(most))
		return missing
	}
	return n
}

func (q *query) limit() int { return q.integer("limit", minLimit, maxLimit, defaultLimit) }

func (q *query) boolean(name string) (value, given bool) {
	switch q.oneOf(name, "true", "false") {
	case "true":
		return true, true
	case "false":
		return false, true
	default:
		return false, false
	}
}

func (q *query) oneOf(name string, values ...string) string {
	text := q.text(name)
	if text != "" && !slices.Contains(values, text) {
		q.wrong(name, "one of "+strings.Join(values, ", "))
		return ""
	}
	return text
}

func (q *query) uuid(name string) string {
	text := q.text(name)
	if text == "" {
		return ""
	}
	id, ok := parseUUID(text)
	if !ok {
		q.wrong(name, "a UUID")
	}
	return id
}

// uuids reads a comma-separated list, which may also be spread over several
// parameters of the name.
func (q *query) uuids(name string) map[string]bool {
	ids := map[string]bool{}
	for _, value := range q.values[name] {
		for text := range strings.SplitSeq(value, ",") {
			if text = strings.TrimSpace(text); text == "" {
				continue
			}
			id, ok := parseUUID(text)
			if !ok {
				q.wrong(name, "a comma-separated list of UUIDs")
			}
			ids[id] = true
		}
	}
	return ids
}

// date returns YYYY-MM-DD.
func (q *query) date(name string) string {
	text := q.text(name)
	if _, ok := parseDate(text); text != "" && !ok {
		q.wrong(name, "a date such as 2025-01-31")
		return ""
	}
	return text
}

// windowStart returns the first timestamp of an inclusive window that starts at
// a timestamp or with a date.
func (q *query) windowStart(name string) string {
	t, _, ok := q.moment(name)
	if !ok {
		return ""
	}
	if whole := t.Truncate(time.Millisecond); whole != t {
		t = whole.Add(time.Millisecond) // the first millisecond that is not before t
	}
	return stamp(t)
}

// windowEnd returns the last timestamp of an inclusive window that ends at a
// timestamp or with a date.
func (q *query) windowEnd(name string) string {
	t, isDate, ok := q.moment(name)
	if !ok {
		return ""
	}
	if isDate {
		t = endOfDay(t)
	}
	return stamp(t.Truncate(time.Millisecond))
}

func (q *query) moment(name string) (t time.Time, isDate, ok bool) {
	text := q.text(name)
	if text == "" {
		return time.Time{}, false, false
	}
	if t, ok := parseDate(text); ok {
		return t, true, true
	}
	if t, ok := parseTimestamp(text); ok {
		return t, false, true
	}
	q.wrong(name, "a timestamp such as 2025-01-31T10:20:30.000Z or a date such as 2025-01-31")
	return time.Time{}, false, false
}

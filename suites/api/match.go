package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/schemas"
)

// expectation is a Gomega matcher over one type of value. It remembers what it
// found, so that a violation can name the response, the place in it and both
// values.
type expectation[T any] struct {
	Words string // completes "expected the server to …"
	Judge func(T) Verdict
	found Verdict
}

// Match reports whether nothing breaks the expectation.
func (e *expectation[T]) Match(actual any) (bool, error) {
	value, ok := actual.(T)
	if !ok {
		return false, fmt.Errorf("want a %T to %s, got a %T", value, e.Words, actual)
	}
	e.found = e.Judge(value)
	return len(e.found.Findings) == 0, nil
}

// FailureMessage lists what breaks the expectation.
func (e *expectation[T]) FailureMessage(any) string {
	var text strings.Builder
	fmt.Fprintf(&text, "Expected the server to %s:", e.Words)
	for _, f := range e.found.Findings {
		fmt.Fprintf(&text, "\n  at %q: expected %s, got %s", f.Pointer, f.Expected, f.Actual)
	}
	return text.String()
}

// NegatedFailureMessage says what should not have been so.
func (e *expectation[T]) NegatedFailureMessage(any) string {
	return "Expected the server not to " + e.Words
}

func (e *expectation[T]) Verdict() Verdict { return e.found }

// onStatus expects something of the status of a response.
func onStatus(words, expected string, fits func(status int) bool) types.GomegaMatcher {
	return &expectation[Response]{Words: words, Judge: func(r Response) Verdict {
		if fits(r.Status) {
			return Verdict{Assessed: 1}
		}
		return Verdict{Assessed: 1, Findings: []Finding{Found(r, "status", expected, Readable(r))}}
	}}
}

// HaveStatus matches a response of exactly that HTTP status.
func HaveStatus(status int) types.GomegaMatcher {
	return onStatus(fmt.Sprintf("answer %d", status), fmt.Sprint(status), func(s int) bool { return s == status })
}

// BeRefused matches a response that is neither a success nor a server error.
func BeRefused() types.GomegaMatcher {
	return onStatus("refuse the request", "a refusal (4xx), neither served nor a server error", func(s int) bool { return s/100 == 4 })
}

// BeServed matches a 200 with what the operation answers with. A 200 with
// another body does not put the requirement to the test: the schemas judge it.
func BeServed() types.GomegaMatcher {
	return &expectation[Response]{Words: "serve the request", Judge: func(r Response) Verdict {
		switch {
		case r.OK():
			return Verdict{Assessed: 1}
		case r.Status == http.StatusOK:
			return Verdict{Missing: r.Shortfall()}
		default:
			return Verdict{Assessed: 1, Findings: []Finding{Found(r, "status", "200", Readable(r))}}
		}
	}}
}

// HaveAtMostItems matches a page that is no longer than the limit. A page
// without rows says nothing about the limit.
func HaveAtMostItems(limit int) types.GomegaMatcher {
	return &expectation[Response]{Words: fmt.Sprintf("show at most %d items", limit), Judge: func(r Response) Verdict {
		return atMost(limit, len(r.Rows()), r)
	}}
}

// atMost is the verdict on a response with n items.
func atMost(limit, n int, r Response) Verdict {
	switch {
	case n == 0:
		return Verdict{Missing: "a row in the list"}
	case n > limit:
		return Verdict{Assessed: 1, Findings: []Finding{Found(r, "/items", fmt.Sprintf("at most %d items", limit), fmt.Sprintf("%d items", n))}}
	default:
		return Verdict{Assessed: 1}
	}
}

// HaveMember matches a response whose resource has a fitting member. An absent
// member counts as null.
func HaveMember(name string, value types.GomegaMatcher) types.GomegaMatcher {
	return &expectation[Response]{Words: "show a fitting " + name, Judge: func(r Response) Verdict {
		return judgeMember(r, "", r.Row(), name, value)
	}}
}

// JudgeValue judges a part of a response by a matcher of JSON values.
func JudgeValue(r Response, pointer string, value any, matcher types.GomegaMatcher) Verdict {
	holds, err := matcher.Match(value)
	if err != nil {
		panic(fmt.Sprintf("suites: %s cannot be matched: %v", pointer, err))
	}
	if holds {
		return Verdict{Assessed: 1}
	}
	return Verdict{Assessed: 1, Findings: []Finding{Found(r, pointer, wordsOf(matcher, value), Readable(value))}}
}

// judgeMember judges a member of the row at the pointer.
func judgeMember(r Response, pointer string, row map[string]any, name string, matcher types.GomegaMatcher) Verdict {
	found := JudgeValue(r, pointer+"/"+name, row[name], matcher)
	for i := range found.Findings {
		found.Findings[i].Actual = schemas.Member(row, name, Readable)
	}
	return found
}

// valueMatcher is a Gomega matcher of a JSON value with words for what it
// expects.
type valueMatcher struct {
	types.GomegaMatcher
	words string
}

func wordsOf(matcher types.GomegaMatcher, value any) string {
	if named, ok := matcher.(valueMatcher); ok {
		return named.words
	}
	return judge.Clip(matcher.FailureMessage(value))
}

// Be puts words to a Gomega matcher of a JSON value.
func Be(words string, m types.GomegaMatcher) types.GomegaMatcher { return valueMatcher{m, words} }

// BeAbsent matches a member that is absent or null.
func BeAbsent() types.GomegaMatcher { return Be("absent or null", gomega.BeNil()) }

// EqualID matches a UUID, whichever its letter case (RFC 9562, section 4).
func EqualID(id string) types.GomegaMatcher {
	return Be(id, gomega.Satisfy(func(got any) bool {
		text, ok := got.(string)
		return ok && paging.FoldID(text) == paging.FoldID(id)
	}))
}

// EqualJSON matches a JSON value that means the same: numbers by value, objects
// whatever the order of their members. Extra members are accepted, because the
// specification does not forbid them.
func EqualJSON(want any) types.GomegaMatcher {
	normal := Normalize(want)
	return Be(ClipJSON(want), gomega.Satisfy(func(got any) bool { return schemas.Covers(normal, Normalize(got)) }))
}

// agreeWith matches another view of the same thing: members that both views show
// are equal. A member may be missing in either view.
func agreeWith(other any) types.GomegaMatcher {
	normal := Normalize(other)
	return Be(ClipJSON(other), gomega.Satisfy(func(got any) bool { return schemas.Agree(normal, Normalize(got)) }))
}

// Keep matches the value that was sent for the field of a created test, also in a normal form
// in which a server may store it. A server may show nothing in place of an empty value.
func Keep(field string, sent any) types.GomegaMatcher {
	normal := InNormalForm(field, sent)
	kept := gomega.Satisfy(func(shown any) bool { return Fits(EqualJSON(normal(sent)), normal(shown)) })
	switch text := ClipJSON(normal(sent)); text {
	case `""`, "[]", "{}":
		return Be(text+", null or absent", gomega.Or(kept, BeAbsent()))
	}
	return Be(ClipJSON(sent), kept)
}

// InNormalForm returns what brings the value that was sent and the one that is shown into
// one form. Some texts cannot be stored or sent otherwise: outer blanks, control characters,
// line ends, a line break in a subject.
func InNormalForm(field string, sent any) func(any) any {
	text, isText := sent.(string)
	folded := isText && field == "email_subject" && strings.ContainsAny(text, "\r\n")
	return func(value any) any {
		text, isText := value.(string)
		if !isText {
			return asSet(field, value)
		}
		text = strings.Map(func(r rune) rune {
			if r < ' ' && r != '\n' && r != '\t' || r == '\x7f' {
				return -1
			}
			return r
		}, strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text))
		if folded {
			return strings.Join(strings.Fields(text), "")
		}
		return strings.TrimSpace(text)
	}
}

// asSet returns addresses and tags, which are sets by nature, in one order, without repeated
// entries and in lower case. It returns other values as they are.
func asSet(field string, value any) any {
	items, isArray := Normalize(value).([]any)
	if !isArray || field != "emails" && field != "tags" {
		return value
	}
	var texts []string
	for _, item := range items {
		text, isText := item.(string)
		if !isText {
			return value
		}
		texts = append(texts, strings.ToLower(strings.TrimSpace(text)))
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

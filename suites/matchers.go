package suites

import (
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"strings"

	"github.com/google/uuid"
	"github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/schemas"
)

// matcher is a Gomega matcher with the words for what it expects.
type matcher struct {
	types.GomegaMatcher
	words   string
	pointer string // what of an answer it is about, where that is not said by the caller
}

// be puts words to a Gomega matcher.
func be(words string, m types.GomegaMatcher) matcher { return matcher{GomegaMatcher: m, words: words} }

// statusOf is the status of an answer, for Gomega to look at.
func statusOf(a answer) int { return a.Status }

// haveStatus matches an answer of exactly that status.
func haveStatus(status int) matcher {
	return matcher{gomega.WithTransform(statusOf, gomega.Equal(status)), fmt.Sprint(status), "status"}
}

// beRefused matches an answer that is neither a success nor a server error.
func beRefused() matcher {
	return matcher{gomega.WithTransform(statusOf, gomega.And(gomega.BeNumerically(">=", 400), gomega.BeNumerically("<", 500))),
		"a refusal (4xx), neither served nor a server error", "status"}
}

// equalJSON matches a decoded JSON value that means the same: numbers by value,
// objects without regard to order. Extra members of an object are let pass, as
// the specification does not forbid them.
func equalJSON(want any) matcher {
	normal := normalize(want)
	text, _ := json.Marshal(want)
	return be(judge.Clip(string(text)), gomega.Satisfy(func(got any) bool { return covers(normal, normalize(got)) }))
}

// agreeWith matches another view of the same thing: what both show is equal, but
// members that may be absent need not show in both.
func agreeWith(other any) matcher {
	normal := normalize(other)
	text, _ := json.Marshal(other)
	return be(judge.Clip(string(text)), gomega.Satisfy(func(got any) bool { return says(normal, normalize(got), true) }))
}

// normalize turns Go values and decoded JSON into one form.
func normalize(value any) any {
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("suites: %v cannot be written as JSON: %v", value, err))
	}
	normal, err := schemas.Decode(encoded)
	if err != nil {
		panic(fmt.Sprintf("suites: %s cannot be read back: %v", encoded, err))
	}
	return normal
}

// covers reports whether got says everything that want says.
func covers(want, got any) bool {
	return says(want, got, false)
}

// says reports whether got says what want says; mayMiss lets it leave out
// members of objects.
func says(want, got any, mayMiss bool) bool {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			return false
		}
		for name, value := range want {
			if has, ok := object[name]; ok && !says(value, has, mayMiss) || !ok && !mayMiss {
				return false
			}
		}
		return true
	case []any:
		array, ok := got.([]any)
		if !ok || len(array) != len(want) {
			return false
		}
		for i := range want {
			if !says(want[i], array[i], mayMiss) {
				return false
			}
		}
		return true
	case json.Number:
		number, ok := got.(json.Number)
		return ok && sameNumber(want, number)
	case string:
		text, ok := got.(string)
		return ok && foldID(want) == foldID(text)
	default:
		return reflect.DeepEqual(want, got)
	}
}

// foldID returns a UUID in small letters, any other text as it is: in which case
// a UUID is written is not shown, and either names the same thing (RFC 9562).
func foldID(text string) string {
	if len(text) != len(uuid.Nil.String()) || uuid.Validate(text) != nil {
		return text
	}
	return strings.ToLower(text)
}

// beID matches a UUID in either case.
func beID(id string) matcher {
	return be(id, gomega.WithTransform(foldID, gomega.Equal(foldID(id))))
}

func sameNumber(a, b json.Number) bool {
	x, okX := new(big.Rat).SetString(a.String())
	y, okY := new(big.Rat).SetString(b.String())
	return okX && okY && x.Cmp(y) == 0
}

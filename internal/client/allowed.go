package client

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Allowed says which statuses the specification allows in the response to a request. The
// zero value says nothing. The client does not read it: it is for those who judge.
type Allowed struct {
	refusals bool   // any 4xx
	statuses [4]int // 0 for none
}

// Only returns what allows these statuses, 4 at most.
func Only(statuses ...int) Allowed { return Allowed{}.Or(statuses...) }

// AnyRefusal returns what allows any 4xx, and these statuses.
func AnyRefusal(statuses ...int) Allowed { return Allowed{refusals: true}.Or(statuses...) }

// Or returns what allows these statuses too. It panics if there are more than 4 in all.
func (a Allowed) Or(statuses ...int) Allowed {
	for _, status := range statuses {
		if !slices.Contains(a.statuses[:], status) {
			a.statuses[slices.Index(a.statuses[:], 0)] = status
		}
	}
	return a
}

// Declared reports whether anybody has said what is allowed.
func (a Allowed) Declared() bool { return a != Allowed{} }

// Status reports whether the status is allowed. A 429 always is: a server may limit the
// rate of any request.
func (a Allowed) Status(status int) bool {
	return status == http.StatusTooManyRequests || a.refusals && status/100 == 4 || slices.Contains(a.statuses[:], status)
}

// Valid reports whether only a 200 is right: the request is valid, its key is authorized,
// and what it names exists.
func (a Allowed) Valid() bool { return a == Only(http.StatusOK) }

// Open reports whether the specification shows neither the status nor the body of a
// refusal.
func (a Allowed) Open() bool { return a.refusals }

// String returns the statuses in words, such as "200 or 404".
func (a Allowed) String() string {
	var words []string
	for _, status := range a.statuses {
		if status != 0 {
			words = append(words, strconv.Itoa(status))
		}
	}
	if a.refusals {
		words = append(words, "a refusal (4xx)")
	}
	return strings.Join(words, " or ")
}

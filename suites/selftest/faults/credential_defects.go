package faults

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// unauthorizedWay is a way to lack authorization, with the kinds of requests that do.
// The first kind is the plain one.
type unauthorizedWay struct {
	requirement string
	askers      []asker
}

// revokedKey matches requests with a revoked key.
var revokedKey = asker{"revoked-key", "a revoked key", func(a *Target, r Request) bool {
	key, ok := a.keyOf(r)
	return ok && key.State == profile.KeyRevoked
}}

// unauthorized lists the ways to lack authorization (Authentication, rule 3).
var unauthorized = []unauthorizedWay{
	{"AUTH-HEADER-MISSING", []asker{
		{"no-header", "a request without an Authorization header", func(_ *Target, r Request) bool { return !r.hasAuthorization() }},
		{"key-in-query", "a valid key in the query", func(a *Target, r Request) bool {
			for _, values := range r.Query {
				if !r.hasAuthorization() && slices.ContainsFunc(values, a.knows) {
					return true
				}
			}
			return false
		}},
		{"key-in-cookie", "a valid key in a cookie", func(a *Target, r Request) bool {
			return !r.hasAuthorization() && a.showsKey(r.Header.Get("Cookie"))
		}},
		{"key-in-other-header", "a valid key in the header X-API-Key", func(a *Target, r Request) bool {
			return !r.hasAuthorization() && a.knows(r.Header.Get("X-Api-Key"))
		}},
	}},
	{"AUTH-SCHEME-OTHER", append([]asker{
		{"other-scheme", "a valid key with a scheme other than Bearer", func(a *Target, r Request) bool {
			scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
			return !strings.EqualFold(scheme, "Bearer") && a.knows(token)
		}},
		{"no-scheme", "a valid key without a scheme", func(a *Target, r Request) bool { return a.knows(r.Header.Get("Authorization")) }},
		{"basic-user", "a valid key as the user of Basic credentials", func(a *Target, r Request) bool {
			credentials, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(r.Header.Get("Authorization"), "Basic "))
			user, _, _ := strings.Cut(string(credentials), ":")
			return a.knows(user)
		}},
		{"no-space", "the scheme and a valid key without a space", func(a *Target, r Request) bool {
			return a.knows(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer"))
		}},
		{"colon", "the scheme and a valid key with a colon", func(a *Target, r Request) bool {
			return a.knows(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer:"))
		}},
		{"bearer-within", "a scheme that ends like Bearer", func(a *Target, r Request) bool {
			before, token, found := strings.Cut(r.Header.Get("Authorization"), "Bearer ")
			return found && before != "" && a.knows(token)
		}},
	}, ofSchemes("Basic", "Digest", "Token", "ApiKey")...)},
	{"AUTH-TOKEN-EMPTY", []asker{
		{"empty-token", "an empty Bearer token", func(_ *Target, r Request) bool {
			return strings.EqualFold(strings.TrimSpace(r.Header.Get("Authorization")), "Bearer")
		}},
		{"empty-header", "an empty Authorization header", func(_ *Target, r Request) bool {
			return r.hasAuthorization() && r.Header.Get("Authorization") == ""
		}},
	}},
	{"AUTH-KEY-UNKNOWN", []asker{
		{"unknown-key", "a key that was never issued", func(a *Target, r Request) bool { return r.token() != "" && !a.knows(r.token()) }},
		almost("partial-key", "the beginning of a valid key", func(sent, key string) bool { return strings.HasPrefix(key, sent) }),
		almost("end-of-key", "the end of a valid key", func(sent, key string) bool { return len(sent) > 1 && strings.HasSuffix(key, sent) }),
		almost("prefixed-key", "a valid key behind other characters", func(sent, key string) bool { return strings.HasSuffix(sent, key) }),
		almost("extended-key", "a valid key with more characters behind it", func(sent, key string) bool { return strings.HasPrefix(sent, key) }),
		almost("key-in-other-case", "a valid key in another letter case", strings.EqualFold),
		almost("key-with-other-start", "a key that differs from a valid one only at its start",
			func(sent, key string) bool { return len(sent) == len(key) && sent[1:] == key[1:] }),
		almost("key-with-other-end", "a key that differs from a valid one only at its end",
			func(sent, key string) bool { return len(sent) == len(key) && sent[:len(sent)-8] == key[:len(key)-8] }),
		almost("first-of-two-keys", "a valid key before another one",
			func(sent, key string) bool { return strings.HasPrefix(sent, key+", ") }),
		almost("last-of-two-keys", "a valid key behind another one",
			func(sent, key string) bool { return strings.HasSuffix(sent, ", Bearer "+key) }),
		almost("key-and-word", "a valid key before another word", func(sent, key string) bool { return strings.HasPrefix(sent, key+" ") }),
		{"null-key", "the word null", func(_ *Target, r Request) bool { return r.token() == "null" }},
		{"pattern-key", "a pattern that matches every key", func(_ *Target, r Request) bool { return r.token() == "%" }},
	}},
	{"AUTH-KEY-REVOKED", []asker{
		revokedKey,
		{"revoked-beside-valid", "a revoked key beside a valid one", func(a *Target, r Request) bool {
			first, second, found := strings.Cut(r.token(), ", Bearer ")
			return found && a.knows(first) && a.knows(second)
		}},
	}},
}

func (r Request) hasAuthorization() bool { return len(r.Header.Values("Authorization")) > 0 }

// almost is the kind of requests whose token is no key, and so near to an active key.
func almost(name, who string, near func(sent, key string) bool) asker {
	return asker{name, who, func(a *Target, r Request) bool {
		sent := r.token()
		return sent != "" && !a.knows(sent) && slices.ContainsFunc(a.Profile.Keys,
			func(k profile.Key) bool { return k.State == profile.KeyActive && near(sent, k.Token) })
	}}
}

// ofSchemes returns the kinds of requests with a valid key and one of these schemes.
func ofSchemes(schemes ...string) []asker {
	var askers []asker
	for _, scheme := range schemes {
		askers = append(askers, asker{"scheme-" + strings.ToLower(scheme), "a valid key with the scheme " + scheme, func(a *Target, r Request) bool {
			token, found := strings.CutPrefix(r.Header.Get("Authorization"), scheme+" ")
			return found && a.knows(token)
		}})
	}
	return askers
}

// showsKey reports whether a text holds a key of the profile.
func (a *Target) showsKey(text string) bool {
	return slices.ContainsFunc(a.Profile.Keys, func(k profile.Key) bool { return strings.Contains(text, k.Token) })
}

// earlyChecks are checks that a server may make before it looks at the key.
var earlyChecks = []struct {
	name, what string
	status     int
	on         func(spec.Operation) bool
	fails      func(Request) bool
}{
	{"id", "the id in the path", http.StatusBadRequest, spec.Operation.HasPathID, func(r Request) bool { return !uuidForm.MatchString(r.ID) }},
	{"syntax", "the syntax of the body", http.StatusBadRequest, spec.Operation.Unsafe, func(r Request) bool { return hasBody(r) && !json.Valid(r.Body) }},
	{"body", "that there is a body", http.StatusBadRequest, takesBody, func(r Request) bool { return !hasBody(r) }},
	{"members", "the members of the body", http.StatusUnprocessableEntity, takesBody, func(r Request) bool {
		members, ok := objectIn(r)
		return ok && len(members) == 0
	}},
	{"media-type", "the media type of the body", http.StatusUnsupportedMediaType, takesBody, func(r Request) bool {
		return hasBody(r) && !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json")
	}},
	{"limit", "the form of limit", http.StatusBadRequest, isPaged, func(r Request) bool {
		_, err := strconv.Atoi(r.Query.Get("limit"))
		return r.Query.Has("limit") && err != nil
	}},
	{"limit-range", "the range of limit", http.StatusBadRequest, isPaged, func(r Request) bool { return r.Query.Get("limit") == "0" }},
	{"sort-order", "sort_order", http.StatusBadRequest, func(op spec.Operation) bool { return op.ID == spec.ListPlacementTests },
		func(r Request) bool { return r.Query.Get("sort_order") == "x" }},
}

func takesBody(op spec.Operation) bool { return op.Method == http.MethodPost }
func isPaged(op spec.Operation) bool   { return op.Answer == spec.Page }

// checkedTooEarly returns the defects of checking something else before the key, if
// authorization lacks in that way.
func checkedTooEarly(op spec.Operation, way unauthorizedWay) []Defect {
	if !slices.Contains([]string{"AUTH-HEADER-MISSING", "AUTH-KEY-UNKNOWN", "AUTH-KEY-REVOKED"}, way.requirement) {
		return nil
	}
	var defects []Defect
	plain := way.askers[0]
	for _, check := range earlyChecks {
		if !check.on(op) {
			continue
		}
		by := asker{plain.name, plain.who, func(a *Target, r Request) bool { return plain.fits(a, r) && check.fails(r) }}
		defects = append(defects, whenAsked(op.ID, way.requirement, by, "after-"+check.name,
			"checks "+check.what+" first in %s", func(*Target) behaviour { return refusing(check.status) }))
	}
	return defects
}

package faults

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/schemas/variants"
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

// revokedBeside matches requests with a revoked key beside a valid one.
var revokedBeside = asker{"revoked-beside-valid", "a revoked key beside a valid one", func(a *Target, r Request) bool {
	first, second, found := strings.Cut(r.token(), ", Bearer ")
	return found && a.knows(first) && a.knows(second)
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
		inHeader("key-in-other-header", "X-Api-Key"),
		inHeader("key-in-authentication", "Authentication"),
	}},
	{"AUTH-SCHEME-OTHER", []asker{
		{"other-scheme", "a valid key with a scheme other than Bearer", func(a *Target, r Request) bool {
			_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
			return isOtherScheme(a, r) && a.knows(token)
		}},
		inForm("no-scheme", "KEY"),
		{"basic-user", "a valid key as the user of Basic credentials", func(a *Target, r Request) bool {
			credentials, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(r.Header.Get("Authorization"), "Basic "))
			user, _, _ := strings.Cut(string(credentials), ":")
			return a.knows(user)
		}},
		inForm("no-space", "BearerKEY"),
		inForm("colon", "Bearer:KEY"),
		inForm("colon-and-space", "Bearer: KEY"),
		inForm("equals-sign", "Bearer=KEY"),
		inForm("encoded-space", "Bearer%20KEY").as("a valid key behind Bearer and an encoded space"),
		inForm("header-in-quotes", `"Bearer KEY"`),
		inForm("bearer-within", "XBearer KEY"),
		inForm("scheme-basic", "Basic KEY"),
		inForm("scheme-digest", "Digest KEY"),
		inForm("scheme-token", "Token KEY"),
		inForm("scheme-apikey", "ApiKey KEY"),
		{"revoked-in-other-scheme", "a revoked key with a scheme other than Bearer", func(a *Target, r Request) bool {
			return isOtherScheme(a, r) && a.showsRevoked(r)
		}},
	}},
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
		almost("key-with-blank", "a valid key with a blank in it", func(sent, key string) bool { return strings.ReplaceAll(sent, " ", "") == key }),
		almost("key-encoded", "a valid key in percent-encoding", func(sent, key string) bool {
			decoded, _ := url.PathUnescape(sent)
			return decoded == key
		}),
		almost("key-in-base64", "a valid key in base64", func(sent, key string) bool { return sent == base64.StdEncoding.EncodeToString([]byte(key)) }),
		inForm("key-in-double-quotes", `Bearer "KEY"`),
		inForm("key-in-single-quotes", "Bearer 'KEY'"),
		inForm("key-in-angle-brackets", "Bearer <KEY>"),
		inForm("key-and-comma", "Bearer KEY,"),
		inForm("key-and-semicolon", "Bearer KEY;"),
		inForm("scheme-twice", "Bearer Bearer KEY"),
		{"revoked-in-other-form", "a revoked key within another token", func(a *Target, r Request) bool {
			return r.token() != "" && !a.knows(r.token()) && a.showsRevoked(r) && !revokedBeside.fits(a, r)
		}},
		inForm("null-key", "Bearer null"),
		inForm("pattern-key", "Bearer %").as("a percent sign for a key"),
	}},
	{"AUTH-KEY-REVOKED", []asker{
		revokedKey,
		revokedBeside,
		inForm("revoked-after-tab", "Bearer\tKEY"),
		inForm("revoked-in-lower-case", "bearer KEY"),
		inForm("revoked-after-blanks", "BEARER  KEY"),
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

// inForm is the kind of requests whose Authorization header has the form, with a key of the
// profile for KEY.
func inForm(name, form string) asker {
	return asker{name, "a header " + strconv.Quote(form), func(a *Target, r Request) bool {
		return slices.ContainsFunc(a.Profile.Keys, func(k profile.Key) bool {
			return r.Header.Get("Authorization") == strings.Replace(form, "KEY", k.Token, 1)
		})
	}}
}

// as returns the kind of requests in other words.
func (k asker) as(who string) asker {
	k.who = who
	return k
}

// inHeader is the kind of requests that show a valid key in that header instead.
func inHeader(name, header string) asker {
	return asker{name, "a valid key in the header " + header, func(a *Target, r Request) bool {
		return !r.hasAuthorization() && a.showsKey(r.Header.Get(header))
	}}
}

// isOtherScheme reports whether the header of the request has a scheme other than Bearer.
func isOtherScheme(_ *Target, r Request) bool {
	return r.Header.Get("Authorization") != "" && !isBearer(r)
}

// showsRevoked reports whether the Authorization header holds a revoked key.
func (a *Target) showsRevoked(r Request) bool {
	return slices.ContainsFunc(a.Profile.Keys, func(k profile.Key) bool {
		return k.State == profile.KeyRevoked && strings.Contains(r.Header.Get("Authorization"), k.Token)
	})
}

// showsKey reports whether a text holds a key of the profile.
func (a *Target) showsKey(text string) bool {
	return slices.ContainsFunc(a.Profile.Keys, func(k profile.Key) bool { return strings.Contains(text, k.Token) })
}

// earlyCheck is a check that a server may make before it looks at the key.
type earlyCheck struct {
	name, what string
	status     int
	fails      func(*Target, Request) bool
}

// earlyChecks returns the checks of the operation's requests.
func earlyChecks(op spec.Operation) []earlyCheck {
	var checks []earlyCheck
	add := func(on bool, name, what string, status int, fails func(*Target, Request) bool) {
		if on {
			checks = append(checks, earlyCheck{name, what, status, fails})
		}
	}
	takesBody, isPaged := op.Method == http.MethodPost, op.Answer == spec.Page
	add(op.HasPathID(), "id", "the id in the path", http.StatusBadRequest, func(_ *Target, r Request) bool { return !uuidForm.MatchString(r.ID) })
	add(op.Unsafe(), "syntax", "the syntax of the body", http.StatusBadRequest, func(_ *Target, r Request) bool { return hasBody(r) && !json.Valid(r.Body) })
	add(takesBody, "body", "that there is a body", http.StatusBadRequest, func(_ *Target, r Request) bool { return !hasBody(r) })
	add(takesBody, "members", "the members of the body", http.StatusUnprocessableEntity, func(_ *Target, r Request) bool {
		members, ok := objectIn(r)
		return ok && len(members) == 0
	})
	add(takesBody, "media-type", "the media type of the body", http.StatusUnsupportedMediaType, func(_ *Target, r Request) bool {
		return hasBody(r) && !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json")
	})
	for _, f := range bodyFields {
		add(f.operation == op.ID && strings.HasPrefix(f.requirement, "REQUEST-INVALID-"), slug(f.field), f.field, http.StatusBadRequest, func(_ *Target, r Request) bool {
			return slices.ContainsFunc(f.mistakes, func(m mistake) bool { return f.hasMistake(r, m) })
		})
	}
	add(isPaged, "limit-range", "the range of limit", http.StatusBadRequest, func(_ *Target, r Request) bool { return r.Query.Get("limit") == "0" })
	for _, part := range variants.Query(op.ID) {
		key := profile.CustomaryKey(op.ID, part.Name)
		add(key != profile.ParamSearch, slug(key), key, http.StatusBadRequest, func(a *Target, r Request) bool {
			return a.valueOf(r, part.Name) == "x"
		})
	}
	return checks
}

// checkedTooEarly returns the defects of checking something else before the key, if
// authorization lacks in that way.
func checkedTooEarly(op spec.Operation, way unauthorizedWay) []Defect {
	by := way.askers[0]
	switch way.requirement {
	case "AUTH-TOKEN-EMPTY":
		return nil
	case "AUTH-SCHEME-OTHER":
		by.fits = isOtherScheme
	case "AUTH-KEY-REVOKED":
		by.fits = func(a *Target, r Request) bool { return revokedKey.fits(a, r) || revokedBeside.fits(a, r) }
	}
	var defects []Defect
	for _, check := range earlyChecks(op) {
		with := asker{by.name, by.who, func(a *Target, r Request) bool { return by.fits(a, r) && check.fails(a, r) }}
		defects = append(defects, whenAsked(op.ID, way.requirement, with, "after-"+check.name,
			"checks "+check.what+" first in %s", func(*Target) behaviour { return refusing(check.status) }))
	}
	return defects
}

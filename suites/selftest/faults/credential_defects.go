package faults

import (
	"encoding/base64"
	"encoding/hex"
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
		inHeader("key-in-misspelt-header", "Authorisation"),
		inHeader("key-in-header-token", "Token"),
	}},
	{"AUTH-SCHEME-OTHER", slices.Concat([]asker{
		{"other-scheme", "a valid key with a scheme other than Bearer", func(a *Target, r Request) bool {
			_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
			return isOtherScheme(a, r) && a.knows(token)
		}},
		{"revoked-in-other-scheme", "a revoked key with a scheme other than Bearer", func(a *Target, r Request) bool {
			return isOtherScheme(a, r) && a.showsRevoked(r)
		}},
	}, inForms(otherSchemes))},
	{"AUTH-TOKEN-EMPTY", []asker{
		{"empty-token", "an empty Bearer token", func(_ *Target, r Request) bool {
			return strings.EqualFold(strings.TrimSpace(r.Header.Get("Authorization")), "Bearer")
		}},
		{"empty-header", "an empty Authorization header", func(_ *Target, r Request) bool {
			return r.hasAuthorization() && r.Header.Get("Authorization") == ""
		}},
	}},
	{"AUTH-KEY-UNKNOWN", slices.Concat([]asker{
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
		{"revoked-in-other-form", "a revoked key within another token", func(a *Target, r Request) bool {
			return r.token() != "" && !a.knows(r.token()) && a.showsRevoked(r) && !revokedBeside.fits(a, r)
		}},
		inForm("null-key", "Bearer null"),
		inForm("pattern-key", "Bearer %"),
	}, inForms(otherTokens))},
	{"AUTH-KEY-REVOKED", []asker{
		revokedKey,
		revokedBeside,
		inForm("revoked-after-tab", "Bearer\tKEY"),
		inForm("revoked-in-lower-case", "bearer KEY"),
		inForm("revoked-after-blanks", "BEARER  KEY"),
	}},
}

// keyForm is a header with something for KEY, or for the name of an encoding of it.
type keyForm struct{ name, form string }

// otherSchemes and otherTokens do not show a key as they should.
var (
	otherSchemes = []keyForm{
		{"no-scheme", "KEY"},
		{"no-space", "BearerKEY"},
		{"colon", "Bearer:KEY"},
		{"colon-and-space", "Bearer: KEY"},
		{"equals-sign", "Bearer=KEY"},
		{"comma", "Bearer,KEY"},
		{"semicolon", "Bearer;KEY"},
		{"underscore", "Bearer_KEY"},
		{"dash", "Bearer-KEY"},
		{"plus", "Bearer+KEY"},
		{"slash", "Bearer/KEY"},
		{"dot", "Bearer.KEY"},
		{"encoded-space", "Bearer%20KEY"},
		{"header-in-quotes", `"Bearer KEY"`},
		{"header-in-single-quotes", "'Bearer KEY'"},
		{"bearer-within", "XBearer KEY"},
		{"scheme-basic", "Basic KEY"},
		{"scheme-digest", "Digest KEY"},
		{"scheme-token", "Token KEY"},
		{"scheme-apikey", "ApiKey KEY"},
		{"basic-user", "Basic USER"},
		{"basic-password", "Basic PASSWORD"},
	}
	otherTokens = []keyForm{
		{"key-in-double-quotes", `Bearer "KEY"`},
		{"key-in-single-quotes", "Bearer 'KEY'"},
		{"key-in-angle-brackets", "Bearer <KEY>"},
		{"key-in-square-brackets", "Bearer [KEY]"},
		{"key-in-braces", "Bearer {KEY}"},
		{"key-in-parentheses", "Bearer (KEY)"},
		{"key-and-comma", "Bearer KEY,"},
		{"key-and-semicolon", "Bearer KEY;"},
		{"key-and-dot", "Bearer KEY."},
		{"key-and-colon", "Bearer KEY:"},
		{"key-and-exclamation-mark", "Bearer KEY!"},
		{"key-in-backquotes", "Bearer `KEY`"},
		{"scheme-twice", "Bearer Bearer KEY"},
		{"scheme-twice-in-small-letters", "Bearer bearer KEY"},
		{"two-schemes", "Bearer Token KEY"},
		{"key-after-token", "Bearer token=KEY"},
		{"quoted-key-after-token", `Bearer token="KEY"`},
		{"key-after-name", "Bearer key=KEY"},
		{"key-in-hex", "Bearer HEX"},
		{"key-in-base64", "Bearer BASE64"},
		{"key-in-base64-for-urls", "Bearer URLSAFE"},
	}
)

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
// profile. It may be any key, or one in that state.
func inForm(name, form string, state ...string) asker {
	who := "a header " + strings.ReplaceAll(strconv.Quote(form), "%", "[percent]") // a sentence has no formatting verb
	return asker{name, who, func(a *Target, r Request) bool {
		return slices.ContainsFunc(a.Profile.Keys, func(k profile.Key) bool {
			std := base64.StdEncoding.EncodeToString
			spelled := strings.NewReplacer("KEY", k.Token, "HEX", hex.EncodeToString([]byte(k.Token)), "BASE64", std([]byte(k.Token)),
				"URLSAFE", base64.RawURLEncoding.EncodeToString([]byte(k.Token)), "USER", std([]byte(k.Token+":")), "PASSWORD", std([]byte(":"+k.Token)))
			return r.Header.Get("Authorization") == spelled.Replace(form) && (len(state) == 0 || k.State == state[0])
		})
	}}
}

func inForms(forms []keyForm) []asker {
	var all []asker
	for _, f := range forms {
		all = append(all, inForm(f.name, f.form))
	}
	return all
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

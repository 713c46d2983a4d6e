package faults

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/schemas/variants"
	"outreach.example/conformance/spec"
)

// keyDefects are mistakes with the key of a request (Authentication, rule 3) and with the
// plan of its workspace (Errors).
func keyDefects() []Defect {
	asShown := func(x *exchange) bool { return authorization(x) == "Bearer "+x.token() }
	withinToken := all(revokedKey, not(keyIn(profile.KeyRevoked)))
	defects := slices.Concat(credentialDefects(), partDefects(),
		mishandled(spec.Billing402, "unpaid", "a workspace without a paid plan", unpaid, standIn(dataset.Main), 401, 403),
		onEach(spec.AuthKeyRevoked, "revoked-spelled-otherwise", "serves a revoked key with “bearer” or other blanks", when(all(revokedKey, not(asShown)), allow)),
		onEach(spec.AuthKeyRevoked, "revoked-before-valid", "serves a revoked key before a valid one", when(withinToken, allow)),
		// The operations share these spellings among them.
		onEach(spec.AuthKeyUnknown, "revoked-in-other-form", "serves a revoked key within another token", when(withinToken, allow)),
		onEach(spec.AuthSchemeOther, "revoked-in-other-scheme", "serves a revoked key with another scheme", when(all(otherScheme, showsRevoked), allow)),
	)
	for _, by := range unauthorized {
		// A suite may take a 404 for the answer to an unknown path.
		defects = append(defects, mishandled(by.breaks, by.id, by.who, by.fits, allow, 403, 404)...)
	}
	slices.SortFunc(defects, func(a, b Defect) int { return strings.Compare(a.ID, b.ID) }) // some come from maps
	return defects
}

// mishandled returns the defects of serving a kind of requests that no server may serve, or
// of refusing it with another status. Without a verb, it may be served.
func mishandled(breaks spec.ID, id, who string, fits occasion, serve verb, statuses ...int) (defects []Defect) {
	for _, op := range breaks.Operations() {
		add := func(how, doc string, do verb) {
			defects = append(defects, defect(breaks, op.ID, id+"-"+how, doc+" to "+who, when(fits, do)))
		}
		if serve != nil {
			add("served", "answers 200", serve)
		}
		if serve != nil && op.Answer != spec.One {
			add("shown-nothing", "shows an empty list", showNothing)
		}
		for _, status := range statuses {
			add(strconv.Itoa(status), "answers "+strconv.Itoa(status), refuse(status))
		}
	}
	return defects
}

// unauthorized lists the ways to lack authorization.
var unauthorized = []struct {
	breaks  spec.ID
	id, who string
	fits    occasion
}{
	{spec.AuthHeaderMissing, "no-header", "a request without an Authorization header", noAuthorization},
	{spec.AuthSchemeOther, "other-scheme", "a scheme other than Bearer", otherScheme},
	{spec.AuthTokenEmpty, "empty-token", "an empty Bearer token", func(x *exchange) bool { return bearer(x) && x.token() == "" }},
	{spec.AuthKeyUnknown, "unknown-key", "a key that was never issued", unknownKey},
	{spec.AuthKeyRevoked, "revoked-key", "a revoked key", revokedKey},
}

func authorization(x *exchange) string { return x.Header.Get("Authorization") }
func noAuthorization(x *exchange) bool { return len(x.Header.Values("Authorization")) == 0 }
func bearer(x *exchange) bool          { return isBearer(x.Request) }
func otherScheme(x *exchange) bool     { return authorization(x) != "" && !bearer(x) }

// showsRevoked is a request with a revoked key anywhere in the header.
func showsRevoked(x *exchange) bool {
	return slices.ContainsFunc(x.Profile.RevokedKeys(), func(k profile.Key) bool { return strings.Contains(authorization(x), k.Token) })
}

// revokedKey is a request with a revoked key, alone or within a longer token.
func revokedKey(x *exchange) bool { return bearer(x) && showsRevoked(x) }

func unknownKey(x *exchange) bool {
	_, known := x.asker()
	return x.token() != "" && !known && !showsRevoked(x)
}

var unpaid = keyIn(profile.KeyUnpaid)

// allow forwards the request with a key that may make it.
func allow(x *exchange) { x.Request, x.own = x.withToken(x.fullKey(x.Operation)), true }

// keyForms are headers with a key, or with the name of an encoding of it. Three dots stand for
// any text.
var keyForms = map[string]string{
	"no-scheme":                     "KEY",
	"no-space":                      "BearerKEY",
	"colon":                         "Bearer:KEY",
	"colon-and-space":               "Bearer: KEY",
	"equals-sign":                   "Bearer=KEY",
	"comma":                         "Bearer,KEY",
	"semicolon":                     "Bearer;KEY",
	"underscore":                    "Bearer_KEY",
	"dash":                          "Bearer-KEY",
	"plus":                          "Bearer+KEY",
	"slash":                         "Bearer/KEY",
	"dot":                           "Bearer.KEY",
	"encoded-space":                 "Bearer%20KEY",
	"header-in-quotes":              `"Bearer KEY"`,
	"header-in-single-quotes":       "'Bearer KEY'",
	"bearer-within":                 "XBearer KEY",
	"scheme-basic":                  "Basic KEY",
	"scheme-digest":                 "Digest KEY",
	"scheme-token":                  "Token KEY",
	"scheme-apikey":                 "ApiKey KEY",
	"basic-user":                    "Basic USER",
	"basic-password":                "Basic PASSWORD",
	"key-in-double-quotes":          `Bearer "KEY"`,
	"key-in-single-quotes":          "Bearer 'KEY'",
	"key-in-backquotes":             "Bearer `KEY`",
	"key-in-angle-brackets":         "Bearer <KEY>",
	"key-in-square-brackets":        "Bearer [KEY]",
	"key-in-braces":                 "Bearer {KEY}",
	"key-in-parentheses":            "Bearer (KEY)",
	"key-and-comma":                 "Bearer KEY,",
	"key-and-semicolon":             "Bearer KEY;",
	"key-and-dot":                   "Bearer KEY.",
	"key-and-colon":                 "Bearer KEY:",
	"key-and-exclamation-mark":      "Bearer KEY!",
	"scheme-twice":                  "Bearer Bearer KEY",
	"scheme-twice-in-small-letters": "Bearer bearer KEY",
	"two-schemes":                   "Bearer Token KEY",
	"key-after-token":               "Bearer token=KEY",
	"quoted-key-after-token":        `Bearer token="KEY"`,
	"key-after-name":                "Bearer key=KEY",
	"prefixed-key":                  "Bearer …KEY",
	"extended-key":                  "Bearer KEY…",
	"key-and-word":                  "Bearer KEY …",
	"first-of-two-keys":             "Bearer KEY, …",
	"last-of-two-keys":              "Bearer …, Bearer KEY",
	"key-in-base64":                 "Bearer BASE64",
	"null-key":                      "Bearer null",
	"pattern-key":                   "Bearer %",
}

// inForm reports whether the header of a request has the form, with that key.
func inForm(x *exchange, form, key string) bool {
	encoded := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	words := strings.NewReplacer("KEY", key, "BASE64", encoded(key), "USER", encoded(key+":"), "PASSWORD", encoded(":"+key))
	before, after, open := strings.Cut(words.Replace(form), "…")
	rest, begins := strings.CutPrefix(authorization(x), before)
	return begins && (rest == "" || open && unknownKey(x) && strings.HasSuffix(rest, after))
}

// nearKeys are comparisons that take another token for a key.
var nearKeys = map[string]func(sent, key string) bool{
	"beginning-of-key":   func(sent, key string) bool { return strings.HasPrefix(key, sent) },
	"end-of-key":         func(sent, key string) bool { return strings.HasSuffix(key, sent) },
	"key-in-other-case":  strings.EqualFold,
	"key-with-other-end": func(sent, key string) bool { return len(sent) == len(key) && sent[:8] == key[:8] },
	"key-with-blank":     func(sent, key string) bool { return strings.ReplaceAll(sent, " ", "") == key },
}

// credentialDefects accept a key in a place or a form that is not documented. Each form is the
// mistake of another parser, and only a check that sends it finds the mistake. One operation
// is enough. This one has no parameters and no body: the suites send each form as it is.
func credentialDefects() []Defect {
	var defects []Defect
	add := func(breaks spec.ID, id string, fits occasion) {
		defects = append(defects, defect(breaks, spec.ListPhoneNumbers, id, "accepts another authorization: "+id, when(fits, allow)))
	}
	accepts := func(breaks spec.ID, id string, fits func(x *exchange, key string) bool) {
		add(breaks, id, func(x *exchange) bool {
			return slices.ContainsFunc(x.Profile.Keys, func(k profile.Key) bool { return k.State == profile.KeyActive && fits(x, k.Token) })
		})
	}
	for _, name := range []string{"X-Api-Key", "Authentication", "Authorisation", "Token", "Cookie"} {
		add(spec.AuthHeaderMissing, "header "+name, all(noAuthorization, func(x *exchange) bool { return x.Header.Get(name) != "" }))
	}
	add(spec.AuthHeaderMissing, "parameter api_key", all(noAuthorization, has("api_key")))
	add(spec.AuthTokenEmpty, "empty header", all(not(noAuthorization), not(bearer), not(otherScheme)))
	for id, form := range keyForms {
		breaks := spec.AuthSchemeOther
		if strings.HasPrefix(form, "Bearer ") {
			breaks = spec.AuthKeyUnknown
		}
		accepts(breaks, id, func(x *exchange, key string) bool { return inForm(x, form, key) })
	}
	for id, near := range nearKeys {
		accepts(spec.AuthKeyUnknown, id, func(x *exchange, key string) bool { return unknownKey(x) && near(x.token(), key) })
	}
	return defects
}

// partDefects check a part of a request before the key, or skip a check if a request has an
// optional part: each may lead to code of its own.
func partDefects() []Defect {
	var defects []Defect
	mistakes := 0
	for _, op := range spec.Operations() {
		add := func(breaks spec.ID, id, doc string, by occasion, do verb) {
			defects = append(defects, defect(breaks, op.ID, id, doc, when(by, do)))
		}
		early := func(what string, wrong occasion) {
			by := unauthorized[mistakes%len(unauthorized)] // each mistake with one of the ways, in turn
			mistakes++
			add(by.breaks, by.id+"-after-"+what, "checks the "+what+" before the key, with "+by.who, all(by.fits, wrong), refuse(400))
		}
		optional := func(name string, sent occasion) {
			skips := func(breaks spec.ID, what string, by occasion, do verb) {
				add(breaks, what+" with "+name, "does not check a request with "+name+": "+what, all(by, sent), do)
			}
			skips(spec.AuthHeaderMissing, "no-header", noAuthorization, allow)
			skips(spec.AuthKeyRevoked, "revoked-key", revokedKey, allow)
			skips(spec.Billing402, "unpaid", unpaid, standIn(dataset.Main))
			skips(spec.ScopeNone, "no-scopes", noScopes, allow)
			skips(spec.ScopeWrongResource, "other-resource", otherResource, allow)
			if op.ID != spec.DeleteSubsequence && (op.ID != spec.ListWebhookEvents || name != profile.ParamSearch) { // no sentence obliges a server to serve these
				add(spec.ScopeExact, "403 with "+name, "wants another scope in a request with "+name, all(oneOfFour(0), sent), refuse(403))
			}
		}
		for _, part := range variants.Query(op.ID) {
			key := profile.CustomaryKey(op.ID, part.Name)
			optional(key, has(key))
			if key != profile.ParamSearch {
				early("parameter "+key, with(key, "x"))
			}
		}
		for _, part := range variants.Body(op.ID) {
			if len(part.Invalid) > 0 {
				early(part.Name, sends(part.Name, equal(part.Invalid[0].Value)))
			}
		}
		if op.HasPathID() {
			early("id", func(x *exchange) bool { return !isUUID(x.ID) })
		}
		if op.Unsafe() {
			early("syntax", func(x *exchange) bool { return hasBody(x) && !json.Valid(x.Body) })
		}
		if op.Method == http.MethodPost {
			early("body", not(hasBody))
			early("media type", func(x *exchange) bool { return x.Header.Get("Content-Type") == "text/plain" })
		}
		if op.Method == http.MethodDelete {
			optional("null body", func(x *exchange) bool { return string(x.Body) == "null" })
		}
		if op.ID == spec.CreatePlacementTest {
			optional("campaign_id", not(lacks("campaign_id")))
			optional("run_immediately", not(lacks("run_immediately")))
		}
	}
	return defects
}

package faults

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/schemas/contract"
	"outreach.example/conformance/spec"
)

// keyDefects are mistakes with the key of a request (Authentication, rule 3) and with the
// plan of its workspace (Errors).
func keyDefects() []Defect {
	asShown := all(keyIn(profile.KeyRevoked), func(x *exchange) bool { return authorization(x) == "Bearer "+x.token() })
	return slices.Concat(mishandled(unserved...), credentialDefects(), partDefects(),
		onEach(spec.AuthKeyRevoked, "serves a revoked key in another spelling, or before a valid key", when(all(revokedKey, not(asShown)), allow)),
		// The operations share these spellings among them.
		onEach(spec.AuthKeyUnknown, "serves a revoked key within another token", when(all(revokedKey, not(keyIn(profile.KeyRevoked))), allow)),
		onEach(spec.AuthSchemeOther, "serves a revoked key with another scheme", when(all(otherScheme, showsRevoked), allow)),
	)
}

// kind is a kind of requests that no server may serve.
type kind struct {
	breaks spec.ID
	who    string
	fits   occasion
	serve  verb
	status int // with which no server may refuse it
}

// unauthorized are those that must get a 401.
var unauthorized = []kind{
	{spec.AuthHeaderMissing, "a request without an Authorization header", noHeader, allow, 404},
	{spec.AuthSchemeOther, "a scheme other than Bearer", otherScheme, allow, 404},
	{spec.AuthTokenEmpty, "an empty Bearer token", func(x *exchange) bool { return isBearer(x.Request) && x.token() == "" }, allow, 404},
	{spec.AuthKeyUnknown, "a key that was never issued", unknownKey, allow, 403},
	{spec.AuthKeyRevoked, "a revoked key", revokedKey, allow, 403},
}

// unserved are those that the key decides: without authorization first. Where it must be a
// 401, a suite may take a 404 for the answer to an unknown path.
var unserved = slices.Concat(unauthorized, []kind{
	{spec.Billing402, "a workspace without a paid plan", keyIn(profile.KeyUnpaid), standIn(dataset.Main), 403},
	{spec.ScopeNone, "a key without scopes", noScopes, allow, 500},
	{spec.ScopeWrongResource, "a key for another resource", otherResource, allow, 500},
	{spec.ScopeWrongAction, "a key for another action", otherAction, allow, 500},
	{spec.ScopeSeveralOnly, "a key with the resource and the action in different scopes", mixedScopes, allow, 500},
})

// mishandled returns the defects of serving each kind, and of refusing it with the status.
func mishandled(kinds ...kind) (defects []Defect) {
	for _, k := range kinds {
		for _, op := range k.breaks.Operations() {
			add := func(how string, do verb) {
				defects = append(defects, defect(k.breaks, op.ID, "answers "+k.who+" with "+how, when(k.fits, do)))
			}
			add("200", k.serve)
			add(strconv.Itoa(k.status), refuse(k.status))
			if op.Answer != spec.One {
				add("an empty list", showNothing)
			}
		}
	}
	return defects
}

func authorization(x *exchange) string { return x.Header.Get("Authorization") }
func otherScheme(x *exchange) bool     { return authorization(x) != "" && !isBearer(x.Request) }

// showsRevoked is a request with a revoked key anywhere in the header.
func showsRevoked(x *exchange) bool {
	return slices.ContainsFunc(x.Profile.RevokedKeys(), func(k profile.Key) bool { return strings.Contains(authorization(x), k.Token) })
}

// revokedKey is a request with a revoked key, alone or within a longer token.
func revokedKey(x *exchange) bool { return isBearer(x.Request) && showsRevoked(x) }

// keyForms are headers with a key, or with its encoding as a user of the scheme Basic. Three
// dots stand for any text.
var keyForms = map[string]string{
	"no-scheme":            "KEY",
	"no-space":             "BearerKEY",
	"colon":                "Bearer:KEY",
	"encoded-space":        "Bearer%20KEY",
	"header-in-quotes":     `"Bearer KEY"`,
	"bearer-within":        "XBearer KEY",
	"scheme-basic":         "Basic KEY",
	"basic-user":           "Basic USER",
	"key-in-double-quotes": `Bearer "KEY"`,
	"key-and-comma":        "Bearer KEY,",
	"scheme-twice":         "Bearer Bearer KEY",
	"key-after-token":      "Bearer token=KEY",
	"prefixed-key":         "Bearer …KEY",
	"extended-key":         "Bearer KEY…",
	"key-and-word":         "Bearer KEY …",
	"first-of-two-keys":    "Bearer KEY, …",
	"last-of-two-keys":     "Bearer …, Bearer KEY",
	"null-key":             "Bearer null",
	"pattern-key":          "Bearer %",
}

// inForm reports whether the header of a request has the form, with that key.
func inForm(x *exchange, form, key string) bool {
	words := strings.NewReplacer("KEY", key, "USER", base64.StdEncoding.EncodeToString([]byte(key+":")))
	before, after, open := strings.Cut(words.Replace(form), "…")
	rest, begins := strings.CutPrefix(authorization(x), before)
	return begins && (rest == "" || open && unknownKey(x) && strings.HasSuffix(rest, after))
}

// nearKeys are comparisons that take another token for a key.
var nearKeys = map[string]func(sent, key string) bool{
	"beginning-of-key":   func(sent, key string) bool { return strings.HasPrefix(key, sent) },
	"key-in-other-case":  strings.EqualFold,
	"key-with-other-end": func(sent, key string) bool { return len(sent) == len(key) && sent[:8] == key[:8] },
}

// credentialDefects accept a key in a place or a form that is not documented. Each form is the
// mistake of another parser, and only a check that sends it finds the mistake. One operation
// is enough. This one has no parameters and no body: the suites send each form as it is.
func credentialDefects() []Defect {
	var defects []Defect
	accepts := func(breaks spec.ID, id string, fits func(x *exchange, key string) bool) {
		someKey := func(x *exchange) bool {
			return slices.ContainsFunc(x.Profile.Keys, func(k profile.Key) bool { return k.State == profile.KeyActive && fits(x, k.Token) })
		}
		defects = append(defects, defect(breaks, spec.Plain(), "accepts another authorization: "+id, when(someKey, allow)))
	}
	for _, name := range []string{"X-Api-Key", "Authentication", "Authorisation", "Token", "Cookie"} {
		accepts(spec.AuthHeaderMissing, "header "+name, func(x *exchange, key string) bool {
			return noHeader(x) && strings.Contains(x.Header.Get(name), key)
		})
	}
	accepts(spec.AuthHeaderMissing, "query", func(x *exchange, key string) bool {
		return noHeader(x) && strings.Contains(x.Query.Encode(), key)
	})
	accepts(spec.AuthTokenEmpty, "empty header", func(x *exchange, _ string) bool { return noHeader(x) && len(x.Header.Values("Authorization")) > 0 })
	for _, id := range slices.Sorted(maps.Keys(keyForms)) {
		form, breaks := keyForms[id], spec.AuthSchemeOther
		if strings.HasPrefix(form, "Bearer ") {
			breaks = spec.AuthKeyUnknown
		}
		accepts(breaks, id, func(x *exchange, key string) bool { return inForm(x, form, key) })
	}
	for _, id := range slices.Sorted(maps.Keys(nearKeys)) {
		accepts(spec.AuthKeyUnknown, id, func(x *exchange, key string) bool { return unknownKey(x) && nearKeys[id](x.token(), key) })
	}
	return defects
}

// partDefects check a part of a request before the key, or skip a check if a request has an
// optional part: each part may lead to code of its own. It meets the kinds in turn.
func partDefects() []Defect {
	var defects []Defect
	turn := 0
	for _, op := range spec.Operations() {
		add := func(breaks spec.ID, doc string, by, sent occasion, do verb) {
			defects = append(defects, defect(breaks, op.ID, doc, when(all(by, sent), do)))
		}
		early := func(part string, wrong occasion) {
			turn++
			k := unauthorized[turn%len(unauthorized)]
			add(k.breaks, "checks the "+part+" before the key, with "+k.who, k.fits, wrong, refuse(400))
		}
		optional := func(part string, sent occasion) {
			turn++
			k := unserved[turn%len(unserved)]
			add(k.breaks, "serves "+k.who+" if the request has "+part, k.fits, sent, k.serve)
		}
		for _, part := range contract.Query(op.ID) {
			key := profile.CustomaryKey(op.ID, part.Name)
			optional(key, has(key))
			if key != profile.ParamSearch {
				early(key, with(key, "x"))
				add(spec.ScopeExact, "wants another scope if the request has "+key, oneOfFour(0), has(key), refuse(403))
			}
		}
		for _, part := range contract.Body(op.ID) {
			if len(part.Invalid) > 0 {
				early(part.Name, sends(part.Name, equal(part.Invalid[0].Value)))
			}
		}
		if op.Unsafe() {
			early("syntax", func(x *exchange) bool { return hasBody(x) && !json.Valid(x.Body) })
		}
		if op.Method == http.MethodDelete {
			optional("null body", func(x *exchange) bool { return string(x.Body) == "null" })
		}
		if op.HasPathID() {
			early("id", func(x *exchange) bool { return !isUUID(x.ID) })
		}
	}
	return defects
}

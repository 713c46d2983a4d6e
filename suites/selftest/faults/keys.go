package faults

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/schemas/variants"
	"outreach.example/conformance/spec"
)

// keyDefects are mistakes with the key of a request (Authentication, rule 3) and with the
// plan of its workspace (Errors).
func keyDefects() []Defect {
	defects := slices.Concat(credentialDefects(), earlyCheckDefects(), optionalPartDefects(),
		// The operations share these spellings among them.
		onEach(spec.AuthSchemeOther, "revoked-in-other-scheme", "serves a revoked key with another scheme", when(all(otherScheme, showsRevoked), allow)),
		onEach(spec.AuthKeyUnknown, "revoked-in-other-form", "serves a revoked key within another token", when(all(unknownKey, showsRevoked), allow)),
		onEach(spec.AuthKeyRevoked, "revoked-in-other-form", "serves a revoked key in another form than “Bearer KEY”",
			when(all(revokedKey, func(x *exchange) bool {
				return x.Header.Get("Authorization") != "Bearer "+x.token() || strings.Contains(x.token(), ",")
			}), allow)),
		onEach(spec.Billing402, "unpaid-served", "serves a workspace without a paid plan", when(unpaid, standIn(dataset.Main))),
		onEach(spec.Billing402, "unpaid-401", "answers 401 to a workspace without a paid plan", when(unpaid, refuse(401))),
		onEach(spec.Billing402, "unpaid-403", "answers 403 to a workspace without a paid plan", when(unpaid, refuse(403))),
		onLists(spec.Billing402, "unpaid-shown-nothing", "shows a workspace without a paid plan an empty list", when(unpaid, showNothing)),
	)
	for _, by := range unauthorized {
		defects = slices.Concat(defects,
			onEach(by.breaks, by.id+"-served", "serves "+by.who, when(by.fits, allow)),
			onEach(by.breaks, by.id+"-403", "answers 403 to "+by.who, when(by.fits, refuse(403))),
			// A suite may take it for the answer to an unknown path.
			onEach(by.breaks, by.id+"-404", "answers 404 to "+by.who, when(by.fits, refuse(404))),
		)
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
	{spec.AuthTokenEmpty, "empty-token", "an empty Bearer token", func(x *exchange) bool { return isBearer(x.Request) && x.token() == "" }},
	{spec.AuthKeyUnknown, "unknown-key", "a key that was never issued", unknownKey},
	{spec.AuthKeyRevoked, "revoked-key", "a revoked key", revokedKey},
}

func noAuthorization(x *exchange) bool { return len(x.Header.Values("Authorization")) == 0 }

func otherScheme(x *exchange) bool {
	return x.Header.Get("Authorization") != "" && !isBearer(x.Request)
}

func unknownKey(x *exchange) bool {
	_, known := x.asker()
	return x.token() != "" && !known && !revokedKey(x)
}

// revokedKey is a request with a revoked key, alone or before another key.
func revokedKey(x *exchange) bool {
	token, other, two := strings.Cut(x.token(), ", Bearer ")
	key, _ := x.keyOf(x.withToken(token))
	_, known := x.keyOf(x.withToken(other))
	return key.State == profile.KeyRevoked && known == two
}

// showsRevoked is a request with a revoked key anywhere in the header.
func showsRevoked(x *exchange) bool {
	return slices.ContainsFunc(x.Profile.RevokedKeys(), func(k profile.Key) bool { return strings.Contains(x.Header.Get("Authorization"), k.Token) })
}

var unpaid = keyIn(profile.KeyUnpaid)

// allow forwards the request with a key that may make it.
func allow(x *exchange) { x.edit().Header.Set("Authorization", "Bearer "+x.fullKey(x.Operation)) }

// keyForms are headers with a key, or with the name of an encoding of it.
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
	"key-in-hex":                    "Bearer HEX",
	"key-in-base64":                 "Bearer BASE64",
	"null-key":                      "Bearer null",
	"pattern-key":                   "Bearer %",
}

// spelled returns the header in that form with the key.
func spelled(form, key string) string {
	encoded := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	return strings.NewReplacer("KEY", key, "HEX", hex.EncodeToString([]byte(key)), "BASE64", encoded(key),
		"USER", encoded(key+":"), "PASSWORD", encoded(":"+key)).Replace(form)
}

// nearTokens are tokens that are no key, but near to one.
var nearTokens = map[string]func(sent, key string) bool{
	"beginning-of-key":     func(sent, key string) bool { return strings.HasPrefix(key, sent) },
	"end-of-key":           func(sent, key string) bool { return strings.HasSuffix(key, sent) },
	"prefixed-key":         strings.HasSuffix,
	"extended-key":         strings.HasPrefix,
	"key-in-other-case":    strings.EqualFold,
	"key-with-other-start": func(sent, key string) bool { return sent[1:] == key[1:] },
	"key-with-other-end": func(sent, key string) bool {
		return len(sent) == len(key) && sent[:len(sent)-8] == key[:len(key)-8]
	},
	"key-with-blank": func(sent, key string) bool { return strings.ReplaceAll(sent, " ", "") == key },
	"key-encoded": func(sent, key string) bool {
		decoded, _ := url.PathUnescape(sent)
		return decoded == key
	},
	"first-of-two-keys": func(sent, key string) bool { return strings.HasPrefix(sent, key+", ") },
	"last-of-two-keys":  func(sent, key string) bool { return strings.HasSuffix(sent, ", Bearer "+key) },
	"key-and-word":      func(sent, key string) bool { return strings.HasPrefix(sent, key+" ") },
}

// credentialDefects accept a key in a place or a form that is not documented. Each form is the
// mistake of another parser, and only a check that sends it finds the mistake. One operation
// is enough. This one has no parameters and no body: the suites send each form as it is.
func credentialDefects() []Defect {
	var defects []Defect
	accepts := func(breaks spec.ID, id, what string, fits func(x *exchange, key string) bool) {
		someKey := func(x *exchange) bool {
			return slices.ContainsFunc(x.Profile.Keys, func(k profile.Key) bool { return k.State == profile.KeyActive && fits(x, k.Token) })
		}
		defects = append(defects, defect(breaks, spec.ListPhoneNumbers, id, "accepts "+what, when(someKey, allow)))
	}
	for _, name := range []string{"X-Api-Key", "Authentication", "Authorisation", "Token", "Cookie"} {
		accepts(spec.AuthHeaderMissing, "key-in-"+name, "a key in the header "+name, func(x *exchange, key string) bool {
			return noAuthorization(x) && strings.Contains(x.Header.Get(name), key)
		})
	}
	accepts(spec.AuthHeaderMissing, "key-in-query", "a key in the query", func(x *exchange, key string) bool {
		return noAuthorization(x) && strings.Contains(x.Query.Encode(), key)
	})
	accepts(spec.AuthTokenEmpty, "empty-header", "an empty header", func(x *exchange, _ string) bool {
		return !noAuthorization(x) && x.Header.Get("Authorization") == ""
	})
	for _, id := range slices.Sorted(maps.Keys(keyForms)) {
		form, breaks := keyForms[id], spec.AuthSchemeOther
		if strings.HasPrefix(form, "Bearer ") {
			breaks = spec.AuthKeyUnknown
		}
		accepts(breaks, id, "the header "+form, func(x *exchange, key string) bool {
			return x.Header.Get("Authorization") == spelled(form, key)
		})
	}
	for _, id := range slices.Sorted(maps.Keys(nearTokens)) {
		accepts(spec.AuthKeyUnknown, id, "a token that is no key: "+id, func(x *exchange, key string) bool {
			return unknownKey(x) && nearTokens[id](x.token(), key)
		})
	}
	return defects
}

// earlyCheckDefects check something else before the key.
func earlyCheckDefects() []Defect {
	var defects []Defect
	for _, op := range spec.Operations() {
		for i, by := range unauthorized {
			early := func(applies bool, what string, status int, fails occasion) {
				if applies {
					defects = append(defects, defect(by.breaks, op.ID, by.id+"-after-"+what, "checks the "+what+" before the key, with "+by.who,
						when(all(by.fits, fails), refuse(status))))
				}
			}
			posts := op.Method == http.MethodPost
			early(op.HasPathID(), "id", 400, func(x *exchange) bool { return !isUUID(x.ID) })
			early(op.Unsafe(), "syntax", 400, func(x *exchange) bool { return hasBody(x) && !json.Valid(x.Body) })
			early(posts, "body", 400, not(hasBody))
			early(posts, "members", 422, sending(func(body map[string]any) bool { return len(body) == 0 }))
			early(posts, "media type", 415, func(x *exchange) bool { return hasBody(x) && x.Header.Get("Content-Type") == "text/plain" })
			early(op.Answer == spec.Page, "limit", 400, with("limit", "0"))
			if i > 0 {
				continue // one way is enough for the parts: the suites send the same mistakes in each
			}
			for _, part := range variants.Body(op.ID) {
				if len(part.Invalid) > 0 {
					early(true, part.Name, 400, sends(part.Name, equal(part.Invalid[0].Value)))
				}
			}
			for _, part := range variants.Query(op.ID) {
				key := profile.CustomaryKey(op.ID, part.Name)
				early(key != profile.ParamSearch, "parameter "+key, 400, with(key, "x"))
			}
		}
	}
	return defects
}

// optionalParts returns the parts that a request of the operation may have or lack.
func optionalParts(op spec.Operation) map[string]occasion {
	parts := map[string]occasion{}
	for _, part := range variants.Query(op.ID) {
		key := profile.CustomaryKey(op.ID, part.Name)
		parts[key] = has(key)
	}
	switch {
	case op.ID == spec.CreatePlacementTest:
		parts["campaign_id"], parts["run_immediately"] = not(lacks("campaign_id")), not(lacks("run_immediately"))
	case op.Method == http.MethodDelete:
		parts["null body"] = func(x *exchange) bool { return string(x.Body) == "null" }
	}
	return parts
}

// optionalPartDefects skip a check, or make another one, if a request has an optional part:
// each may lead to code of its own.
func optionalPartDefects() []Defect {
	var defects []Defect
	for _, op := range spec.Operations() {
		parts := optionalParts(op)
		allAtOnce := always
		for _, name := range slices.Sorted(maps.Keys(parts)) {
			allAtOnce = all(allAtOnce, parts[name])
			skips := func(breaks spec.ID, check string, by occasion, do verb) {
				defects = append(defects, defect(breaks, op.ID, check+"-skipped-with-"+name, "skips the check of the "+check+" in a request with "+name, when(all(by, parts[name]), do)))
			}
			skips(spec.AuthHeaderMissing, "key", noAuthorization, allow)
			skips(spec.ScopeNone, "scope", noScopes, allow)
			skips(spec.Billing402, "plan", unpaid, standIn(dataset.Main))
			if op.ID != spec.DeleteSubsequence && (op.ID != spec.ListWebhookEvents || name != profile.ParamSearch) { // no sentence obliges a server to serve these
				defects = append(defects, defect(spec.ScopeExact, op.ID, "refused-with-"+name, "wants another scope in a request with "+name, when(all(oneOfFour(0), parts[name]), refuse(403))))
			}
		}
		if len(parts) > 0 {
			for breaks, by := range map[spec.ID]occasion{spec.AuthKeyRevoked: revokedKey, spec.ScopeWrongResource: otherResource, spec.ScopeWrongAction: otherAction, spec.ScopeSeveralOnly: severalScopes(false)} {
				defects = append(defects, defect(breaks, op.ID, "x-skipped-with-all-parts", "skips the check in a request with all optional parts", when(all(by, allAtOnce), allow)))
			}
		}
	}
	return defects
}

// onLists is onEach for the operations that list something.
func onLists(requirement spec.ID, id, doc string, rules ...rule) []Defect {
	return slices.DeleteFunc(onEach(requirement, id, doc, rules...), func(d Defect) bool {
		return spec.MustOperation(d.Breaks.Operation).Answer == spec.One
	})
}

package suites

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/schemas/contract"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// Credentials that are almost valid. The specification knows one form: a header
// "Authorization: Bearer <API_KEY>". The scheme may have any letter case, and several
// spaces may follow it (RFC 9110, section 11), so none of these varies them. HTTP removes
// blanks around a header, and decoders ignore "=" at the end: no form adds them.

// withKeyElsewhere shows a valid key everywhere but in the Authorization header.
func withKeyElsewhere(k Call) []Call {
	bare, token := k.WithKey(client.Key{}), k.Key.Token
	inQuery, inHeaders := bare, bare
	for _, name := range []string{"access_token", "api_key", "apikey", "key", "token"} {
		inQuery = inQuery.WithQuery(name, token)
	}
	for _, name := range []string{"X-API-Key", "Api-Key", "X-Auth-Token", "X-Access-Token", "Token"} {
		inHeaders = inHeaders.WithHeader(name, token)
	}
	for _, name := range []string{"X-Authorization", "Authentication", "Authorisation"} {
		inHeaders = inHeaders.WithHeader(name, "Bearer "+token)
	}
	cookie := "access_token=" + token + "; api_key=" + token + "; session=" + token + "; token=" + token
	return UnauthorizedFor(spec.AuthHeaderMissing, inQuery, inHeaders.WithHeader("Cookie", cookie+"; Authorization=Bearer "+token))
}

// Forms of a header with a valid key that is not valid itself. KEY stands for the key, OTHER
// for one that no server has issued, and each name in encodings for the encoded key. The
// operations share the forms that only a rare parser takes.
var (
	otherSchemes = []string{
		"Basic KEY", "KEY", "Basic USER", "Basic PASSWORD", "Digest KEY", "Token KEY", "ApiKey KEY", "BearerKEY", "Bearer:KEY",
		"XBearer KEY", "Bearer: KEY", "Bearer=KEY", "Bearer%20KEY", `"Bearer KEY"`,
	}
	rareSchemes = []string{"Bearer,KEY", "Bearer;KEY", "Bearer_KEY", "Bearer-KEY", "Bearer+KEY", "Bearer/KEY", "Bearer.KEY", "'Bearer KEY'"}
	otherTokens = []string{
		"Bearer PERCENT", "Bearer BASE64", "Bearer null", "Bearer %", `Bearer "KEY"`, "Bearer 'KEY'", "Bearer KEY,", "Bearer Bearer KEY",
		"Bearer KEY conformance", "Bearer OTHER, Bearer KEY", "Bearer KEY, Bearer OTHER", "Bearer token=KEY", `Bearer token="KEY"`,
	}
	rareTokens = []string{
		"Bearer <KEY>", "Bearer [KEY]", "Bearer {KEY}", "Bearer (KEY)", "Bearer `KEY`", "Bearer KEY;", "Bearer KEY.", "Bearer KEY:",
		"Bearer KEY!", "Bearer key=KEY", "Bearer bearer KEY", "Bearer Token KEY", "Bearer HEX", "Bearer URLSAFE",
	}
	// A server may accept these, unless the key is revoked.
	looseForms = []string{"bearer KEY", "BEARER  KEY", "Bearer\tKEY"}
)

func withOtherScheme(k Call) []Call { return inForms(spec.AuthSchemeOther, k, otherSchemes) }

// withOtherToken shows the key in forms that make another key of it. Their order lets each
// operation try one that holds a revoked key.
func withOtherToken(api *API, k Call) []Call {
	return append(withAlmostKey(api, k), inForms(spec.AuthKeyUnknown, k, otherTokens)...)
}

var encodings = map[string]func(token []byte) string{
	"PERCENT":  func(token []byte) string { return "%" + strings.ReplaceAll(fmt.Sprintf("% X", token), " ", "%") },
	"HEX":      hex.EncodeToString,
	"BASE64":   base64.StdEncoding.EncodeToString,
	"URLSAFE":  base64.RawURLEncoding.EncodeToString,
	"USER":     func(token []byte) string { return base64.StdEncoding.EncodeToString(append(token, ':')) },
	"PASSWORD": func(token []byte) string { return base64.StdEncoding.EncodeToString(append([]byte{':'}, token...)) },
}

// inForms returns the call with its key in each of the forms.
func inForms(id spec.ID, k Call, forms []string) []Call {
	words := []string{"KEY", k.Key.Token, "OTHER", UnknownToken}
	for name, encode := range encodings {
		words = append(words, name, encode([]byte(k.Key.Token)))
	}
	var calls []Call
	for _, form := range forms {
		calls = append(calls, k.WithHeader("Authorization", strings.NewReplacer(words...).Replace(form)))
	}
	return UnauthorizedFor(id, calls...)
}

// longKey is how many bytes a key must have for a part of it, or for it with another
// letter, to be surely no key.
const longKey = 16

// withAlmostKey shows variations of a valid key. Each has a name of its own, so that a
// curl command can show a variable in its place.
func withAlmostKey(api *API, k Call) []Call {
	token := k.Key.Token
	type variation struct{ name, token string }
	variations := []variation{
		{"prefix-added-to-", "q7zQ" + token},
		{"suffix-added-to-", token + "q7zQ"},
	}
	if len(token) >= longKey {
		variations = append(variations,
			variation{"half-of-", token[:len(token)/2]},
			variation{"start-changed-in-", withOtherLetter(token, 0)},
			variation{"end-changed-in-", withOtherLetter(token, len(token)-endOfKey)},
			variation{"start-removed-from-", token[1:]},
			variation{"case-swapped-in-", withCaseSwapped(token)},
			variation{"blank-in-", token[:len(token)/2] + " " + token[len(token)/2:]})
	}
	var calls []Call
	for _, variation := range variations {
		listed := slices.ContainsFunc(api.Profile.Keys, func(other profile.Key) bool { return other.Token == variation.token })
		if !listed && variation.token != token {
			calls = append(calls, k.WithKey(client.Key{Name: variation.name + k.Key.Name, Token: variation.token}))
		}
	}
	return UnauthorizedFor(spec.AuthKeyUnknown, calls...)
}

// endOfKey is how far from its end a key is changed. The last characters may be padding
// of base64, or bits that a decoder ignores.
const endOfKey = 5

// withOtherLetter replaces the first letter or digit from the position on. The new
// letter is a rare one: a digit could lead to the next key of a numbered series.
func withOtherLetter(token string, from int) string {
	at := from + strings.IndexFunc(token[from:], func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
	if at < from {
		return token
	}
	letter := "q"
	if token[at]|0x20 == 'q' {
		letter = "z"
	}
	return token[:at] + letter + token[at+1:]
}

// withCaseSwapped swaps upper and lower case. A key without both is returned as it is: its
// letter case may mean nothing, as in a UUID.
func withCaseSwapped(token string) string {
	if token == strings.ToLower(token) || token == strings.ToUpper(token) {
		return token
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, token)
}

// malformedID is no UUID.
const malformedID = "not-a-uuid"

// besides returns what a server may notice before it looks at the key: mistakes in the
// operation's requests, and all optional parts at once. Mistakes share a request if none keeps a
// server from noticing another.
func besides(api *API, op spec.Operation) []func(Call) Call {
	var all []func(Call) Call
	raw := func(k Call) Call { return k.WithBody(Raw(`{"name": "breaks o`)) }
	switch op.Method {
	case http.MethodPost:
		all = append(all, raw, withInvalidFields, func(k Call) Call { return k.WithBody(nil) }, func(k Call) Call { return k.WithBody(map[string]any{}) },
			func(k Call) Call { return k.WithBody(Raw(string(BodyOf(k)))).WithHeader("Content-Type", "text/plain") })
	case http.MethodDelete:
		all = append(all, raw)
	}
	var parameters []string // that x is no value of
	if op.Answer == spec.Page && api.Has(Cursor(op.ID)) {
		parameters = []string{CursorParameter(api, op)}
		all = append(all, func(k Call) Call { return k.WithQuery("limit", "0") })
	}
	parts := optionalParts(api, AuthorizedRole(op), op)
	for _, part := range parts {
		parameters = append(parameters, part.parameters...)
	}
	if len(parameters) > 0 {
		all = append(all, func(k Call) Call {
			for _, name := range parameters {
				k = k.WithQuery(name, "x")
			}
			return k
		})
	}
	if len(parts) > 0 {
		all = append(all, func(k Call) Call { return withParts(k, parts) })
	}
	return all
}

func withInvalidFields(k Call) Call {
	for _, member := range contract.Body(k.Operation.ID) {
		if len(member.Invalid) > 0 {
			k = k.WithField(member.Name, member.Invalid[0].Value)
		}
	}
	return k
}

// inTurn returns the calls, the first as it is and each other one with one of the changes.
// Both are repeated until all have been used. So a spelling and a mistake share a request.
func inTurn(calls []Call, changes []func(Call) Call) []Call {
	all := slices.Clone(calls[:1])
	if calls[0].Operation.HasPathID() { // alone: the response may be that to an unknown path
		all = append(all, calls[0].WithID(malformedID).MustBeRefused(calls[0].Breaks).MayGet(http.StatusNotImplemented))
	}
	for i := 1; i < max(len(calls), len(changes)+1); i++ {
		k := calls[i%len(calls)]
		if len(changes) > 0 {
			k = changes[(i-1)%len(changes)](k)
		}
		all = append(all, k)
	}
	return all
}

// isUnknownPath reports whether the target may take the request for one of a path that it
// does not have: its id is no UUID, and the answer to an unknown path is the same. The
// specification does not say that such a path asks for a key.
func isUnknownPath(api *API, r Response) bool {
	return spec.MeansUnserved(r.Status) && r.Status == UnknownPath(api, client.Key{})
}

package suites

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/spec"
)

// Credentials that are almost valid. The specification knows one form: a header
// "Authorization: Bearer <API_KEY>". The scheme may have any letter case, and several
// spaces may follow it (RFC 9110, section 11), so none of these varies them.

// withKeyElsewhere shows a valid key everywhere but in the Authorization header.
func withKeyElsewhere(k Call) []Call {
	bare, token := k.WithoutAuthorization(), k.key.Token
	inQuery, inHeaders := bare, bare
	for _, name := range []string{"access_token", "api_key", "apikey", "key", "token"} {
		inQuery = inQuery.WithQuery(name, token)
	}
	for _, name := range []string{"X-API-Key", "Api-Key", "X-Auth-Token", "X-Access-Token"} {
		inHeaders = inHeaders.WithHeader(name, token)
	}
	cookie := "access_token=" + token + "; api_key=" + token + "; session=" + token + "; token=" + token
	return []Call{
		inQuery.MustBeRefused(),
		inHeaders.WithHeader("X-Authorization", "Bearer "+token).MustBeRefused(),
		bare.WithHeader("Cookie", cookie+"; Authorization=Bearer "+token).MustBeRefused(),
	}
}

// withAlmostBearer shows a valid key with a scheme that looks like Bearer, or that other
// services use.
func withAlmostBearer(k Call) []Call {
	token := k.key.Token
	var calls []Call
	for _, header := range []string{
		"Basic " + base64.StdEncoding.EncodeToString([]byte(token+":")),
		"Digest " + token, "Token " + token, "ApiKey " + token,
		"Bearer" + token, "Bearer:" + token, "XBearer " + token,
	} {
		calls = append(calls, k.WithAuthorization(header))
	}
	return calls
}

// withNoKey shows a word that stands for a missing key, and a pattern that matches any.
func withNoKey(k Call) []Call {
	var calls []Call
	for _, word := range []string{"null", "%"} {
		calls = append(calls, k.WithAuthorization("Bearer "+word))
	}
	return calls
}

// withTwoKeys shows a valid key beside another one, which is not valid.
func withTwoKeys(k Call, other string) []Call {
	valid := k.key.Token
	return []Call{
		k.WithAuthorization("Bearer " + other + ", Bearer " + valid),
		k.WithAuthorization("Bearer " + valid + ", Bearer " + other),
	}
}

// withAlmostKey shows variations of a valid key. Each has a name of its own, so that a
// curl command can show a variable in its place.
func (api *API) withAlmostKey(k Call) []Call {
	token := k.key.Token
	type variation struct{ name, token string }
	variations := []variation{
		{"prefix-added-to-", "q7zQ" + token},
		{"suffix-added-to-", token + "q7zQ"},
	}
	if len(token) >= longKey {
		variations = append(variations,
			variation{"start-changed-in-", withOtherLetter(token, 0)},
			variation{"end-changed-in-", withOtherLetter(token, len(token)-endOfKey)},
			variation{"start-removed-from-", token[1:]},
			variation{"case-swapped-in-", withCaseSwapped(token)})
	}
	var calls []Call
	for _, variation := range variations {
		listed := slices.ContainsFunc(api.Profile.Keys, func(other profile.Key) bool { return other.Token == variation.token })
		if !listed && variation.token != token {
			calls = append(calls, k.WithKey(client.Key{Name: variation.name + k.key.Name, Token: variation.token}))
		}
	}
	return calls
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

// withMistakes adds to a request without valid authorization each kind of mistake that a
// server may notice before it looks at the key.
func (api *API) withMistakes(k Call) []Call {
	op := k.Operation
	k = k.MustBeRefused()
	var calls []Call
	if op.HasPathID() {
		calls = append(calls, k.WithID(malformedID).MayGet(http.StatusNotImplemented))
	}
	switch {
	case op.Method == http.MethodPost:
		plain := k.WithRawBody(string(k.bytes())).WithHeader("Content-Type", "text/plain")
		calls = append(calls, k.WithRawBody(`{"name": "breaks o`), k.WithBody(nil), k.WithBody(map[string]any{}), plain)
	case op.Method == http.MethodDelete:
		calls = append(calls, k.WithRawBody(`{"name": "breaks o`))
	case op.Answer == spec.Page:
		cursor, known := api.Profile.CursorParameter(op)
		word := k.WithQuery("limit", "abc").WithQuery("sort_order", "x")
		if known {
			word = word.WithQuery(cursor, "conformance")
		}
		calls = append(calls, k.WithQuery("limit", "0"), word)
	case op.ID == spec.GetPlacementTest:
		calls = append(calls, k.WithQuery("with_metadata", "perhaps"))
	}
	return calls
}

// isUnknownPath reports whether the target may take the request for one of a path that it
// does not have: its id is no UUID, and the answer to an unknown path is the same. The
// specification does not say that such a path asks for a key.
func (api *API) isUnknownPath(r Response) bool {
	return r.Call.id == malformedID && spec.MeansUnserved(r.Status) && r.Status == api.unknownPath(client.Key{})
}

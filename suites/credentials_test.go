package suites

import (
	"slices"
	"strings"
	"testing"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// almostValid returns every request with credentials that are derived from the key.
func almostValid(key client.Key) []Call {
	api := &API{Env: &Env{Profile: &profile.Profile{}}}
	k := Call{Operation: spec.MustOperation(spec.ListLeadLabels), Key: key}
	rare := inForms(spec.AuthKeyUnknown, k, slices.Concat(rareSchemes, rareTokens))
	return slices.Concat(withOtherToken(api, k), withOtherScheme(k), rare, withKeyElsewhere(k))
}

func TestCurlLinesOfAlmostValidCredentialsHoldNoKey(t *testing.T) {
	const token = "acme_4Zr7mK1wQx9LpT2vB8nD5sHcJf3GyEaU6"
	key := client.Key{Name: "main", Token: token}
	for _, k := range almostValid(key) {
		// The client knows the key, since the run has sent valid requests.
		_ = client.Exchange{Request: client.Request{Key: key}}.Curl()
		line := client.Exchange{Request: Sent(k)}.Curl()
		for at := 0; at+8 <= len(token); at++ {
			if strings.Contains(strings.ToLower(line), strings.ToLower(token[at:at+8])) {
				t.Errorf("the line holds a part of the key: %s", line)
				break
			}
		}
		testbed.HoldsNoKey(t, []profile.Key{{Name: key.Name, Token: token}}, map[string]string{"the line": line})
	}
}

// A variation is no key that the profile lists, and differs from the valid one.
func TestAlmostKeysAreNoKeys(t *testing.T) {
	for _, token := range []string{"acme_4Zr7mK1wQx9LpT2vB8nD5sHcJf3GyEaU6", "0193b82a-4c00-7e10-8d16-312fa34cb77c", "main-key-number-0001", "a----------------------"} {
		k := Call{Operation: spec.MustOperation(spec.ListLeadLabels), Key: client.Key{Name: "main", Token: token}}
		api := &API{Env: &Env{Profile: &profile.Profile{Keys: []profile.Key{{Token: token[1:]}}}}}
		seen := map[string]bool{token: true, token[1:]: true}
		for _, almost := range withAlmostKey(api, k) {
			if seen[almost.Key.Token] {
				t.Errorf("%s of %q is %q again", almost.Key.Name, token, almost.Key.Token)
			}
			seen[almost.Key.Token] = true
		}
	}
}

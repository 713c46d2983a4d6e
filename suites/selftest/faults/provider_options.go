package faults

import (
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// optionsDefects show the provider options to keys that must not see them, refuse them with
// another error than the documented one, or answer a valid request in a way that is not legal.
func optionsDefects() []Defect {
	mute := member("message", leftOut)
	unpaid, beyond := keyIn(profile.KeyUnpaid), status(429)
	return mistakes{
		spec.OptionsAuth: {
			{"shows options without a header", noHeader, allow},
			{"shows options to another scheme or an empty key", noToken, allow},
			{"shows options to an unknown key", unknownKey, allow},
			{"shows options to a revoked key", keyIn(profile.KeyRevoked), allow},
			{"answers 403 to a request for options without a header", noHeader, refuse(403)},
			{"answers a request for options with an unknown key without a message", unknownKey, mute},
		},
		spec.OptionsScope: {
			{"shows options to a key without scopes", noScopes, allow},
			{"answers 500 to a request for options with a key without scopes", noScopes, refuse(500)},
		},
		spec.OptionsBilling: {
			{"shows options to a workspace without a plan", unpaid, allow},
			{"answers 403 to a request for options of a workspace without a plan", unpaid, refuse(403)},
			{"answers a request for options of a workspace without a plan without a message", unpaid, mute},
		},
		spec.OptionsRate: {
			{"answers 403 to a request for options beyond the rate limit", beyond, refuse(403)},
			{"answers a request for options beyond the rate limit without a message", beyond, mute},
		},
		spec.OptionsServed: {
			{"answers 500 to every request for options", always, refuse(500)},
			{"redirects every request for options", always, redirect},
			{"answers 204 to a valid request for options", served, reply(plain(204, "text/plain", ""))},
			{"shows a web page instead of options", served, reply(plain(200, "text/html", "<html></html>"))},
		},
	}.on(options)
}

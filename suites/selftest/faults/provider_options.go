package faults

import (
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// optionsDefects show the provider options to keys that must not see them, refuse them with
// another error than the documented one, or answer a valid request in a way that is not legal.
func optionsDefects() []Defect {
	serve, mute := withKey(dataset.Main), member("message", leftOut)
	scopeless := holding(func(scopes []string) bool { return len(scopes) == 0 })
	unpaid, beyond := keyIn(profile.KeyUnpaid), status(429)
	return onAll(options, []mistakes{
		{spec.OptionsAuth, []mistake{
			{"shows options without a header", noHeader, serve},
			{"shows options to another scheme or an empty key", noToken, serve},
			{"shows options to an unknown key", unknownKey, serve},
			{"shows options to a revoked key", keyIn(profile.KeyRevoked), serve},
			{"answers 403 to a request for options without a header", noHeader, refuse(403)},
			{"answers a request for options with an unknown key without a message", unknownKey, mute},
		}},
		{spec.OptionsScope, []mistake{
			{"shows options to a key without scopes", scopeless, serve},
			{"answers 500 to a request for options with a key without scopes", scopeless, refuse(500)},
		}},
		{spec.OptionsBilling, []mistake{
			{"shows options to a workspace without a plan", unpaid, serve},
			{"answers 403 to a request for options of a workspace without a plan", unpaid, refuse(403)},
			{"answers a request for options of a workspace without a plan without a message", unpaid, mute},
		}},
		{spec.OptionsRate, []mistake{
			{"answers 403 to a request for options beyond the rate limit", beyond, refuse(403)},
			{"answers a request for options beyond the rate limit without a message", beyond, mute},
		}},
		{spec.OptionsServed, []mistake{
			{"answers 500 to every request for options", always, refuse(500)},
			{"redirects every request for options", always, redirect},
			{"answers 204 to a valid request for options", served, reply(plain(204, "text/plain", ""))},
			{"shows a web page instead of options", served, reply(plain(200, "text/html", "<html></html>"))},
		}},
	})
}

package faults

import (
	"net/http"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// optionsDefects show the provider options to keys that must not see them, refuse them with
// another error than the documented one, or do not show them in a legal way.
func optionsDefects() []Defect {
	serve, mute := withKey(dataset.Main), member("message", leftOut)
	noHeader := func(x *exchange) bool { return x.Header.Get("Authorization") == "" }
	revoked := keyIn(profile.KeyRevoked)
	bare := func(x *exchange) bool { return x.token() == "" && x.Header.Get("Authorization") != "" } // another scheme, or no key
	scopeless := holding(func(scopes []string) bool { return len(scopes) == 0 })
	unpaid := keyIn(profile.KeyUnpaid)
	beyond := status(http.StatusTooManyRequests)
	var defects []Defect
	for _, d := range []struct {
		breaks    spec.ID
		id, words string
		when      occasion
		do        verb
	}{
		{spec.OptionsAuth, "no-header-served", "shows provider options without an Authorization header", noHeader, serve},
		{spec.OptionsAuth, "unknown-key-served", "shows provider options to an unknown key", unknownKey, serve},
		{spec.OptionsAuth, "revoked-key-served", "shows provider options to a revoked key", revoked, serve},
		{spec.OptionsAuth, "other-form-served", "shows provider options to another scheme or an empty key", bare, serve},
		{spec.OptionsAuth, "no-header-403", "answers 403 to a request for provider options without an Authorization header", noHeader, refuse(http.StatusForbidden)},
		{spec.OptionsAuth, "unknown-key-500", "answers 500 to a request for provider options with an unknown key", unknownKey, refuse(http.StatusInternalServerError)},
		{spec.OptionsAuth, "no-header-without-message", "answers a request for provider options without an Authorization header with an error without a message", noHeader, mute},

		{spec.OptionsScope, "no-scopes-served", "shows provider options to a key without scopes", scopeless, serve},
		{spec.OptionsScope, "no-scopes-500", "answers 500 to a request for provider options with a key without scopes", scopeless, refuse(http.StatusInternalServerError)},

		{spec.OptionsBilling, "unpaid-served", "shows provider options to a workspace without a plan", unpaid, serve},
		{spec.OptionsBilling, "unpaid-403", "answers 403 to a request for provider options of a workspace without a plan", unpaid, refuse(http.StatusForbidden)},
		{spec.OptionsBilling, "unpaid-without-message", "answers 402 without a message to a request for provider options", unpaid, mute},

		{spec.OptionsRate, "limit-403", "answers 403 to a request for provider options beyond the rate limit", beyond, refuse(http.StatusForbidden)},
		{spec.OptionsRate, "limit-503", "answers 503 to a request for provider options beyond the rate limit", beyond, refuse(http.StatusServiceUnavailable)},
		{spec.OptionsRate, "limit-without-message", "answers 429 without a message to a request for provider options", beyond, mute},

		{spec.OptionsServed, "500", "answers 500 to every request for provider options", always, refuse(http.StatusInternalServerError)},
		{spec.OptionsServed, "redirected", "redirects every request for provider options", always, reply(Response{http.StatusFound, http.Header{"Location": {"/login"}}, nil})},
		{spec.OptionsServed, "empty", "answers 204 to a valid request for provider options", served, reply(Response{http.StatusNoContent, http.Header{}, nil})},
		{spec.OptionsServed, "html", "shows a web page instead of provider options", served, reply(plain(http.StatusOK, "text/html", "<html></html>"))},
	} {
		defects = append(defects, onEach(d.breaks, "options-"+d.id, d.words, on(options, d.when, d.do))...)
	}
	return defects
}

package faults

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// What error quirks touch: refusals by cause, if the specification does not
// define status and body.
const (
	touchesInvalid    = "refusal of invalid requests"
	touchesPermission = "refusal for lack of permission"
	touchesForeign    = "refusal of another workspace's resources"
	touchesMessage    = "message"
)

// errorQuirks refuse in other ways than the reference server.
func errorQuirks() []Quirk {
	quirks := []Quirk{
		message("other-texts", "writes error messages in other languages", "¡Operación no disponible! 操作不可用 🚫"),
		message("long-texts", "writes very long error messages", strings.Repeat("It cannot be done, and this is why. ", 2000)),
	}
	for _, status := range []int{403, 404, 409, 415, 422} {
		quirks = append(quirks, Quirk{ID: "errors/invalid-" + strconv.Itoa(status), Allowed: spec.OpenPointInvalidRequest,
			Touches: []string{touchesInvalid},
			Doc:     "refuses invalid requests with " + strconv.Itoa(status), Apply: alike(reanswered(isInvalid, refusal(status)))})
	}
	for _, form := range bodyForms {
		quirks = append(quirks,
			Quirk{ID: "errors/invalid-" + form.id, Allowed: spec.OpenPointInvalidRequest, Touches: []string{touchesInvalid},
				Doc: "refuses invalid requests with " + form.doc, Apply: alike(reanswered(isInvalid, form.answer(http.StatusBadRequest)))},
			Quirk{ID: "errors/permission-" + form.id, Allowed: spec.OpenPointPermission, Touches: []string{touchesPermission},
				Doc:   "refuses keys without permission with " + form.doc,
				Apply: func(a *Target) Middleware { return reanswered(a.lacksPermission, form.answer(http.StatusForbidden)) }},
		)
	}
	// Documented statuses may replace another refusal with any body.
	html := bodyForms[0]
	quirks = append(quirks,
		Quirk{ID: "errors/invalid-404-html", Allowed: spec.OpenPointInvalidRequest, Touches: []string{touchesInvalid},
			Doc: "refuses invalid requests with 404 and an HTML page", Apply: alike(reanswered(isInvalid, html.answer(http.StatusNotFound)))},
		Quirk{ID: "errors/permission-401-html", Allowed: spec.OpenPointPermission, Touches: []string{touchesPermission},
			Doc:   "refuses keys without permission with 401 and an HTML page",
			Apply: func(a *Target) Middleware { return reanswered(a.lacksPermission, html.answer(http.StatusUnauthorized)) }},
	)
	for _, status := range []int{400, 401, 402, 404, 409} {
		quirks = append(quirks, Quirk{ID: "errors/permission-" + strconv.Itoa(status), Allowed: spec.OpenPointPermission,
			Touches: []string{touchesPermission},
			Doc:     "refuses keys without permission with " + strconv.Itoa(status),
			Apply:   func(a *Target) Middleware { return reanswered(a.lacksPermission, refusal(status)) }})
	}
	for _, status := range []int{400, 403, 410, 422} {
		quirks = append(quirks, Quirk{ID: "errors/foreign-" + strconv.Itoa(status), Allowed: spec.OpenPointForeignID,
			Touches: []string{touchesForeign},
			Doc:     "refuses references to another workspace's resources with " + strconv.Itoa(status),
			Apply:   func(a *Target) Middleware { return reanswered(a.namesForeign, refusal(status)) }})
	}
	for _, status := range []int{400, 403, 410, 422} {
		quirks = append(quirks, Quirk{ID: "errors/unknown-in-body-" + strconv.Itoa(status), Allowed: spec.OpenPointUnknownInBody,
			Touches: []string{touchesForeign},
			Doc:     "refuses a body that names what does not exist with " + strconv.Itoa(status),
			Apply:   alike(onAnswer(spec.MoveLead, http.StatusNotFound, func(Request, Response) Response { return refusal(status) }))})
	}
	return append(quirks,
		Quirk{ID: "errors/foreign-html", Allowed: spec.OpenPointForeignID, Touches: []string{touchesForeign},
			Doc:   "refuses references to another workspace's resources with 403 and an HTML page",
			Apply: func(a *Target) Middleware { return reanswered(a.namesForeign, html.answer(http.StatusForbidden)) }},
		Quirk{ID: "errors/foreign-filter-404", Allowed: spec.OpenPointForeignID, Touches: []string{touchesForeign},
			Doc: "answers 404 to a filter by another workspace's resource", Apply: func(a *Target) Middleware {
				return a.instead(a.filtersByForeign, func(Request) Response { return refusal(http.StatusNotFound) })
			}})
}

// bodyForms are bodies that are legal if the specification does not define one.
var bodyForms = []struct {
	id, doc string
	answer  func(status int) Response
}{
	{"html", "an HTML page", func(status int) Response {
		return plain(status, "text/html; charset=utf-8", "<!doctype html><title>Error</title><h1>"+http.StatusText(status)+"</h1>")
	}},
	{"text", "plain text", func(status int) Response { return plain(status, "text/plain", http.StatusText(status)) }},
	{"empty", "no body", func(status int) Response { return Response{status, http.Header{}, nil} }},
	{"array", "a JSON array", func(status int) Response {
		answer := served([]any{map[string]any{"path": "body", "error": http.StatusText(status)}})
		answer.Status = status
		return answer
	}},
}

func plain(status int, mediaType, body string) Response {
	return Response{status, http.Header{"Content-Type": {mediaType}}, []byte(body)}
}

func message(id, doc, text string) Quirk {
	return Quirk{ID: "errors/" + id, Allowed: spec.OpenPointMessages, Doc: doc, Touches: []string{touchesMessage},
		Apply: alike(onAll(func(_ Request, answer Response) Response {
			if answer.Status < http.StatusBadRequest {
				return answer
			}
			body, _ := decode(answer.Body)
			if object, ok := body.(map[string]any); ok {
				object["message"] = text
				answer.Body = encode(object)
			}
			return answer
		}))}
}

// reanswered replaces matching refusals.
func reanswered(fits func(Request, Response) bool, otherwise Response) Middleware {
	return onAll(func(r Request, answer Response) Response {
		if answer.Status/100 == 4 && fits(r, answer) {
			otherwise := otherwise
			otherwise.Header = otherwise.Header.Clone()
			return otherwise
		}
		return answer
	})
}

// isInvalid matches refusals of invalid requests with these statuses.
// Conforming servers may use others; then the quirk has no effect.
func isInvalid(_ Request, answer Response) bool {
	return slices.Contains([]int{400, 405, 409, 413, 415, 422}, answer.Status)
}

// lacksPermission matches refusals of keys without the permission.
func (a *Target) lacksPermission(r Request, answer Response) bool {
	if answer.Status == http.StatusUnauthorized || answer.Status == http.StatusPaymentRequired || answer.Status == http.StatusTooManyRequests {
		return false
	}
	key, ok := a.keyOf(r)
	needed := spec.MustOperation(r.Operation).Scope.Alternatives()
	return answer.Status == http.StatusForbidden ||
		ok && len(needed) > 0 && !slices.ContainsFunc(needed, func(s string) bool { return slices.Contains(key.Scopes, s) })
}

// namesForeign matches refusals of requests whose path or body names another
// workspace's resource of the profile.
func (a *Target) namesForeign(r Request, answer Response) bool {
	if answer.Status != http.StatusNotFound && answer.Status != http.StatusForbidden {
		return false
	}
	key, ok := a.keyOf(r)
	if !ok {
		return false
	}
	body, _ := decode(r.Body)
	for role, w := range a.Profile.Workspaces {
		things := slices.Concat(w.Campaigns, w.Leads, w.Subsequences, w.ExpendableSubsequences, w.PlacementTests)
		if w.Admin != "" { // an account move names workspaces: foreign is one of another admin workspace
			things = append(things, w.ID)
		}
		if role == key.Workspace || w.Admin == key.Workspace {
			continue
		}
		for _, named := range []string{r.ID, textOf(body, "id"), textOf(body, "subsequence_id"), textOf(body, "source_workspace_id"),
			textOf(body, "destination_workspace_id")} {
			if named != "" && slices.Contains(things, named) {
				return true
			}
		}
	}
	return false
}

// filtersByForeign matches filters of reports, subsequences and mappings by
// another workspace's id of the profile.
func (a *Target) filtersByForeign(r Request) bool {
	meaning := map[string]string{
		spec.ListPlacementReports: profile.ParamTest,
		spec.ListSubsequences:     profile.ParamParentCampaign,
		spec.ListTagMappings:      profile.ParamResourceIDs,
	}[r.Operation]
	name, named := a.Profile.Parameter(r.Operation, meaning)
	key, ok := a.keyOf(r)
	if !named || !ok || meaning == "" {
		return false
	}
	for role, w := range a.Profile.Workspaces {
		if role != key.Workspace && slices.Contains(slices.Concat(w.Campaigns, w.PlacementTests), r.Query.Get(name)) {
			return true
		}
	}
	return false
}

// throttleQuirks answer 429 without a stated limit. Requests without a valid
// key still get 401.
func throttleQuirks() []Quirk {
	throttle := func(id, allowed, doc string, refuses func(served int) (refuse bool, retryAfter string)) Quirk {
		return Quirk{ID: "throttle/" + id, Allowed: allowed, Doc: doc, Touches: []string{"throttle"},
			Apply: func(a *Target) Middleware { return a.throttled(refuses) }}
	}
	return []Quirk{
		throttle("now-and-then", spec.OpenPointRateLimit, "answers 429 occasionally", func(n int) (bool, string) { return n%700 == 350, "" }),
		throttle("in-a-row", spec.OpenPointRateLimit, "answers 429 twice to the same request occasionally",
			func(n int) (bool, string) { return n%1500 == 700 || n%1500 == 701, "" }),
		throttle("retry-after", spec.OpenPointRetryAfter, "answers 429 with a Retry-After of one second",
			func(n int) (bool, string) { return n == 1000, "1" }),
		throttle("odd-retry-after", spec.OpenPointRetryAfter, "answers 429 occasionally with a meaningless Retry-After",
			func(n int) (bool, string) {
				return n%700 == 350, []string{"0", "soon", "-1", "Sun, 06 Nov 1994 08:49:37 GMT", "0.5"}[n/700%5]
			}),
		{ID: "throttle/low-limit", Allowed: spec.OpenPointRateLimit, Doc: "pauses each workspace briefly after 800 requests",
			Touches: []string{"throttle"}, Apply: func(a *Target) Middleware { return a.pausing() }},
	}
}

// isValidKey reports whether the request has an active key of the profile.
func (a *Target) isValidKey(r Request) (profile.Key, bool) {
	key, ok := a.keyOf(r)
	return key, ok && key.State != profile.KeyRevoked
}

func overLimit(retryAfter string) Response {
	answer := refusal(http.StatusTooManyRequests)
	if retryAfter != "" {
		answer.Header.Set("Retry-After", retryAfter)
	}
	return answer
}

// throttled refuses requests by their sequence number.
func (a *Target) throttled(refuses func(n int) (refuse bool, retryAfter string)) Middleware {
	return func(next Handler) Handler {
		var count tally
		return func(r Request) (Response, error) {
			if _, ok := a.isValidKey(r); ok {
				if refuse, retryAfter := refuses(count.next("")); refuse {
					return overLimit(retryAfter), nil
				}
			}
			return next(r)
		}
	}
}

// pausing refuses all requests of a workspace for a while after each share of
// requests.
func (a *Target) pausing() Middleware {
	const share, pause = 800, 20 * time.Millisecond
	return func(next Handler) Handler {
		var mu sync.Mutex
		served, until := map[string]int{}, map[string]time.Time{}
		return func(r Request) (Response, error) {
			key, ok := a.isValidKey(r)
			if !ok {
				return next(r)
			}
			mu.Lock()
			served[key.Workspace]++
			if served[key.Workspace]%share == 0 {
				until[key.Workspace] = time.Now().Add(pause)
			}
			refuse := time.Now().Before(until[key.Workspace])
			mu.Unlock()
			if refuse {
				return overLimit(""), nil
			}
			return next(r)
		}
	}
}

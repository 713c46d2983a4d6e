package faults

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// throttleQuirks answer 429 without a stated limit. Requests without a valid key still get
// 401.
func throttleQuirks() []Quirk {
	throttle := func(id, allowed, doc string, o occasion, more ...verb) Quirk {
		return quirk("throttle/"+id, allowed, "throttle", doc, instead(o, then(refuse(429), then(more...))))
	}
	nowAndThen := counted(func(n int) bool { return n%700 == 350 })
	return []Quirk{
		throttle("now-and-then", spec.OpenPointRateLimit, "answers 429 occasionally", nowAndThen),
		throttle("in-a-row", spec.OpenPointRateLimit, "answers 429 twice to the same request occasionally",
			counted(func(n int) bool { return n%1500 == 700 || n%1500 == 701 })),
		throttle("retry-after", spec.OpenPointRetryAfter, "answers 429 with a Retry-After of one second",
			counted(func(n int) bool { return n == 1000 }), header("Retry-After", "1")),
		throttle("odd-retry-after", spec.OpenPointRetryAfter, "answers 429 occasionally with a meaningless Retry-After", nowAndThen,
			func(x *exchange) {
				odd := []string{"0", "soon", "-1", "Sun, 06 Nov 1994 08:49:37 GMT", "0.5"}
				header("Retry-After", odd[x.memory.count("refusals")%len(odd)])(x)
			}),
		throttle("low-limit", spec.OpenPointRateLimit, "pauses each workspace briefly after 800 requests", inPause),
	}
}

// inPause is a request during the pause that follows every 800th of its workspace.
func inPause(x *exchange) bool {
	workspace := x.home().ID
	if x.memory.count(workspace)%800 == 0 {
		x.memory.put(workspace, time.Now())
	}
	begin, ok := x.memory.get(workspace)
	return ok && time.Since(begin.(time.Time)) < 20*time.Millisecond
}

// refusalQuirks refuse in other ways than the reference server, or refuse more.
func refusalQuirks() []Quirk {
	const foreignThings = "refusal of another workspace's resources"
	const sizes = "not mentioned: the size of a request" // no request of the suites is that long
	return slices.Concat([]Quirk{
		quirk("errors/other-texts", spec.OpenPointMessages, "message", "writes error messages in other languages",
			when(failed, member("message", constant("¡Operación no disponible! 操作不可用 🚫")))),
		quirk("errors/long-texts", spec.OpenPointMessages, "message", "writes very long error messages",
			when(failed, member("message", constant(strings.Repeat("It cannot be done, and this is why. ", 2000))))),
		quirk("errors/foreign-filter-404", spec.OpenPointForeignID, foreignThings, "answers 404 to a filter by another workspace's resource",
			instead(all(paged, foreign), refuse(404))),
		quirk("bounds/long-query", sizes, "sizes, long queries", "refuses queries of more than 1 kB with 414",
			when(func(x *exchange) bool { return len(x.Query.Encode()) > 1<<10 }, refuse(414))),
		quirk("bounds/long-header", sizes, "sizes, long headers", "refuses headers of more than 2 kB with 431",
			when(func(x *exchange) bool { return len(fmt.Sprint(x.Header)) > 2<<10 }, refuse(431))),
		quirk("bounds/long-body", sizes, "sizes, create", "refuses bodies of more than 16 kB with 413",
			when(func(x *exchange) bool { return len(x.Body) > 16<<10 }, refuse(413))),
	},
		refusedWith("invalid", spec.OpenPointInvalidRequest, "refusal of invalid requests", "refuses invalid requests",
			status(400, 405, 409, 413, 415, 422), "400 ", "403, 404, 409, 415, 422, 400 html, 400 text, 400 empty, 400 array, 404 html"),
		refusedWith("permission", spec.OpenPointPermission, "refusal for lack of permission", "refuses keys without permission",
			status(403), "403 ", "400, 401, 402, 404, 409, 403 html, 403 text, 403 empty, 403 array, 401 html"),
		refusedWith("foreign", spec.OpenPointForeignID, foreignThings, "refuses references to another workspace's resources",
			all(foreign, status(403, 404)), "403 ", "400, 403, 410, 422, 403 html"),
		refusedWith("unknown-in-body", spec.OpenPointUnknownInBody, foreignThings, "refuses a body that names what does not exist",
			all(sends("subsequence_id", isText), status(404)), "", "400, 403, 410, 422"))
}

// refusedWith refuses with other statuses, and bodies of a form, than the usual. The
// specification does not define them. Conforming servers may refuse with other statuses; then
// the quirk has no effect.
func refusedWith(id, allowed, touches, doc string, o occasion, usual, others string) (quirks []Quirk) {
	for other := range strings.SplitSeq(others, ", ") {
		number, form, _ := strings.Cut(other, " ")
		answer := refusal(int(asFloat(number)))
		if f, ok := refusalForms[form]; ok {
			answer = plain(answer.Status, f.mediaType, f.body)
		}
		quirks = append(quirks, quirk("errors/"+id+"-"+slug(strings.TrimPrefix(other, usual)), allowed, touches, doc+" with "+other, when(o, reply(answer))))
	}
	return quirks
}

// refusalForms are bodies that are legal if the specification does not define one.
var refusalForms = map[string]struct{ mediaType, body string }{
	"html":  {"text/html; charset=utf-8", "<!doctype html><title>Error</title><h1>Refused</h1>"},
	"text":  {"text/plain", "Refused"},
	"empty": {},
	"array": {"application/json", `[{"path":"body","error":"Refused"}]`},
}

// foreign is a request that names a thing of another workspace.
func foreign(x *exchange) bool {
	others := x.listedIDs(false)
	return slices.ContainsFunc(x.namedIDs(), func(id string) bool { return slices.Contains(others, id) })
}

// namedIDs returns what the request names in its path, filters and body; some are empty.
func (x *exchange) namedIDs() []string {
	body := x.sent()
	return []string{x.ID, x.param(profile.ParamTest), x.param(profile.ParamParentCampaign), x.param(profile.ParamParentCampaignNot), x.param(profile.ParamResourceIDs),
		textOf(body, "id"), textOf(body, "subsequence_id"), textOf(body, "source_workspace_id"), textOf(body, "destination_workspace_id")}
}

// listedIDs returns the ids that the profile has of the key's workspace and, if that is an admin
// workspace, of its workspaces; or those of all others.
func (x *exchange) listedIDs(own bool) (ids []string) {
	key, _ := x.asker()
	for role, w := range x.Profile.Workspaces {
		if own == (role == key.Workspace || w.Admin == key.Workspace) {
			for _, entry := range w.Entries() {
				ids = append(ids, entry.IDs...)
			}
		}
	}
	return ids
}

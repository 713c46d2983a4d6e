package faults

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// errorDamage is one way to damage a documented error.
type errorDamage struct {
	part, id, words string // part completes ERROR-<status>-
	spoil           verb
}

var errorDamages = []errorDamage{
	{"BODY", "body-empty", "without a body", bytesOf(func([]byte) []byte { return nil })},
	{"BODY", "body-html", "with HTML labelled as JSON", bytesOf(func([]byte) []byte { return []byte("<html><body>Error</body></html>") })},
	{"BODY", "body-a-string", "with a JSON string", value(toText)},
	{"CONTENT_TYPE", "text-plain", "as text/plain", header("Content-Type", "text/plain; charset=utf-8")},
	{"CONTENT_TYPE", "no-content-type", "without a content type", header("Content-Type", "")},
	{"STATUSCODE", "statuscode-left-out", "without statusCode", member("statusCode", leftOut)},
	{"STATUSCODE", "statuscode-as-text", "with a string for statusCode", member("statusCode", toText)},
	{"STATUSCODE", "statuscode-of-another", "with another status in statusCode", member("statusCode", constant(json.Number("400")))},
	{"ERROR", "error-left-out", "without error", member("error", leftOut)},
	{"ERROR", "error-of-another", "with the error of another status", member("error", constant("Bad Request"))},
	{"ERROR", "error-in-small-letters", "with error in lower case", member("error", ofText(strings.ToLower))},
	{"MESSAGE", "message-left-out", "without message", member("message", leftOut)},
	{"MESSAGE", "message-empty", "with an empty message", member("message", constant(""))},
	{"MESSAGE", "message-in-an-array", "with an array of messages", member("message", inArray)},
}

// errorDefects damage the four documented errors, and answer something other than 404 for
// what does not exist.
func errorDefects() []Defect {
	var defects []Defect
	add := func(code int, d errorDamage, id, words string, o occasion) {
		text := strconv.Itoa(code)
		defects = append(defects, onEach(spec.ID("ERROR-"+text+"-"+d.part), text+" "+d.id+" "+id, strings.TrimSpace("answers "+text+" "+d.words+" "+words),
			when(all(status(code), o), d.spoil))...)
	}
	for _, code := range slices.Sorted(maps.Keys(spec.ErrorText)) {
		for _, d := range errorDamages {
			add(code, d, "", "", always)
		}
	}
	noHeader := func(x *exchange) bool { return x.Header.Get("Authorization") == "" }
	for i, way := range []struct {
		id, words string
		when      occasion
	}{
		{"for-an-empty-token", "if the token is empty", func(x *exchange) bool { return isBearer(x.Request) && x.token() == "" }},
		{"for-another-scheme", "if the scheme is not Bearer", func(x *exchange) bool { return !noHeader(x) && !isBearer(x.Request) }},
		{"for-an-unknown-key", "if the key was never issued", unknownKey},
		{"for-a-revoked-key", "if the key was revoked", keyIn(profile.KeyRevoked)},
		{"without-a-header", "if the Authorization header is missing", noHeader},
	} {
		add(http.StatusUnauthorized, errorDamages[[]int{1, 3, 6, 10, 12}[i]], way.id, way.words, way.when) // one of each part
	}
	return append(defects, notFoundDefects()...)
}

func unknownKey(x *exchange) bool {
	_, known := x.asker()
	return x.token() != "" && !known
}

// notFoundDefects answer something other than a refusal for what does not exist.
func notFoundDefects() []Defect {
	knownLead := func(x *exchange) bool {
		return slices.ContainsFunc(slices.Collect(maps.Values(x.Profile.Workspaces)), func(w profile.Workspace) bool {
			return slices.Contains(w.Leads, textOf(x.sent(), "id"))
		})
	}
	var defects []Defect
	for _, d := range []struct {
		id, words string
		spoil     verb
	}{
		{"as-400", "answers 400", refuse(http.StatusBadRequest)},
		{"as-410", "answers 410", refuse(http.StatusGone)},
		{"as-302", "redirects", redirect},
		{"as-500", "answers 500", refuse(http.StatusInternalServerError)},
		{"as-empty-object", "answers 200 with an empty object", reply(jsonAnswer(http.StatusOK, map[string]any{}))},
		{"as-another", "uses an existing one", standIn(dataset.Main)},
	} {
		missing := func(requirement spec.ID, what string, o occasion) {
			defects = append(defects, onEach(requirement, "not-found-"+d.id+" "+what, d.words+" if a "+what+" does not exist", when(all(status(http.StatusNotFound), o), d.spoil))...)
		}
		missing(spec.NotFound, "resource", always)
		if d.id != "as-400" && d.id != "as-410" { // a lead move may be refused in any way
			missing(spec.NotFoundLead, "lead", not(knownLead))
			missing(spec.NotFoundSubsequence, "subsequence", knownLead)
		}
	}
	return defects
}

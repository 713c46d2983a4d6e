package faults

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// Ways to ask without authorization.
func noHeader(x *exchange) bool { return x.Header.Get("Authorization") == "" }

// noToken is a request with another scheme, or with an empty key.
func noToken(x *exchange) bool { return !noHeader(x) && x.token() == "" }

func unknownKey(x *exchange) bool {
	_, known := x.asker()
	return x.token() != "" && !known
}

// errorDefects damage the four documented errors, and answer something other than 404 for
// what does not exist. The last damage to each part is also in one kind of 401 alone.
func errorDefects() []Defect {
	type damage struct {
		words string
		do    verb
	}
	defects := notFoundDefects()
	for _, part := range []struct {
		name, whose string
		only        occasion
		damages     []damage
	}{
		{"BODY", "without a header", noHeader, []damage{
			{"with a JSON string", value(toText)},
			{"with HTML labelled as JSON", bytesOf(func([]byte) []byte { return []byte("<html></html>") })},
		}},
		{"CONTENT_TYPE", "with another scheme or an empty key", noToken, []damage{
			{"without a content type", header("Content-Type", "")},
			{"as text/plain", header("Content-Type", "text/plain; charset=utf-8")},
		}},
		{"STATUSCODE", "with an unknown key", unknownKey, []damage{
			{"with another status in statusCode", member("statusCode", constant(json.Number("400")))},
			{"with a string for statusCode", member("statusCode", toText)},
		}},
		{"ERROR", "with a revoked key", keyIn(profile.KeyRevoked), []damage{
			{"with error in lower case", member("error", ofText(strings.ToLower))},
		}},
		{"MESSAGE", "without a header", noHeader, []damage{
			{"with an empty message", member("message", constant(""))},
		}},
	} {
		for _, code := range slices.Sorted(maps.Keys(spec.ErrorText)) {
			text := strconv.Itoa(code)
			add := func(d damage, whose string, o occasion) {
				words := "answers " + text + " " + d.words + whose
				defects = append(defects, onEach(spec.ID("ERROR-"+text+"-"+part.name), words, when(all(status(code), o), d.do))...)
			}
			for _, d := range part.damages {
				add(d, "", always)
			}
			if code == 401 {
				add(part.damages[len(part.damages)-1], " to a request "+part.whose, part.only)
			}
		}
	}
	return defects
}

// notFoundDefects answer something other than a refusal for what does not exist.
func notFoundDefects() []Defect {
	missing := status(404)
	lead := func(x *exchange) bool { return missing(x) && !x.owns(dataset.Main) }
	unserved := func(what string, o occasion) []mistake { // a lead move may be refused with any 4xx
		return []mistake{
			{"redirects a request for a missing " + what, o, redirect},
			{"answers 500 for a missing " + what, o, refuse(500)},
			{"shows an empty object for a missing " + what, o, reply(jsonAnswer(200, fields{}))},
			{"uses another one for a missing " + what, o, standIn(dataset.Main)},
		}
	}
	return mistakes{
		spec.NotFound:            append(unserved("resource", missing), mistake{"answers 410 for a missing resource", missing, refuse(410)}),
		spec.NotFoundLead:        unserved("lead", lead),
		spec.NotFoundSubsequence: unserved("subsequence", all(missing, not(lead))),
	}.on("")
}

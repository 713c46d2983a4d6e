package faults

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// errorDefects damage the four documented errors, and answer something other
// than 404 for a missing resource.
func errorDefects() []Defect {
	return slices.Concat(errorBodyDefects(), oneWay401Defects(), notFoundDefects(), closingDefects())
}

// closingDefects end the connection without a response at one input, as a server does whose
// handler crashed.
func closingDefects() []Defect {
	at := func(op, at, words string, crashes func(Request) bool) Defect {
		return Defect{ID: defectID(op, "closes", at), Breaks: spec.Pair{Requirement: string(spec.Status200), Operation: op},
			Doc: sentence("closes the connection without a response", words),
			Apply: func(*Target) Middleware {
				return func(next Handler) Handler {
					return func(r Request) (Response, error) {
						answer, err := next(r)
						if r.Operation == op && err == nil && answer.Status == http.StatusOK && crashes(r) {
							err = io.ErrUnexpectedEOF
						}
						return answer, err
					}
				}
			}}
	}
	return []Defect{
		at(spec.ListLeadLabels, "with-limit", "to a list with a limit", func(r Request) bool { return r.Query.Has("limit") }),
		at(spec.CreatePlacementTest, "paused", "after the creation of a paused test", func(r Request) bool { return bytes.Contains(r.Body, []byte(`"status":2`)) }),
	}
}

// errorDamage is one way to damage a documented error.
type errorDamage struct {
	part, id, words string // part completes ERROR-<status>-
	spoil           func(Response) Response
}

// errorBodyDefects apply each damage to each documented error of each
// operation.
func errorBodyDefects() []Defect {
	var defects []Defect
	for _, status := range slices.Sorted(maps.Keys(spec.ErrorText)) {
		for _, d := range errorDamages(status) {
			for _, op := range boundTo(errorPart(status, d.part)) {
				defects = append(defects, Defect{
					ID:     defectID(op, strconv.Itoa(status), d.id),
					Breaks: spec.Pair{Requirement: errorPart(status, d.part), Operation: op},
					Doc:    sentence("answers", strconv.Itoa(status), d.words),
					Apply:  onError(op, status, func(*Target, Request) bool { return true }, d.spoil),
				})
			}
		}
	}
	return defects
}

func errorPart(status int, part string) string { return "ERROR-" + strconv.Itoa(status) + "-" + part }

func boundTo(requirement string) []string {
	r, ok := spec.FindRequirement(requirement)
	if !ok {
		panic("faults: the catalogue has no requirement " + requirement)
	}
	return r.Operations
}

func errorDamages(status int) []errorDamage {
	other := http.StatusBadRequest
	return []errorDamage{
		{"BODY", "body-empty", "without a body", editing(func([]byte) []byte { return nil })},
		{"BODY", "body-html", "with HTML labelled as JSON",
			editing(func([]byte) []byte { return []byte("<html><body>" + http.StatusText(status) + "</body></html>") })},
		{"BODY", "body-a-string", "with a JSON string", onValue(constant(http.StatusText(status)))},
		{"BODY", "body-in-an-array", "with the object in an array", onValue(inArray)},
		{"BODY", "body-truncated", "with a truncated body", editing(func(b []byte) []byte { return b[:len(b)/2] })},

		{"CONTENT_TYPE", "text-plain", "as text/plain", announcing("text/plain; charset=utf-8")},
		{"CONTENT_TYPE", "no-content-type", "without a content type", announcing("")},
		{"CONTENT_TYPE", "half-a-parameter", "with a malformed content type", announcing("application/json; charset")},

		{"STATUSCODE", "statuscode-left-out", "without statusCode", withMember("statusCode", constant(removed{}))},
		{"STATUSCODE", "statuscode-as-text", "with a string for statusCode", withMember("statusCode", toText)},
		{"STATUSCODE", "statuscode-of-another", "with a different status in statusCode",
			withMember("statusCode", constant(json.Number(strconv.Itoa(other))))},
		{"STATUSCODE", "statuscode-with-a-fraction", "with a fraction in statusCode",
			withMember("statusCode", constant(json.Number(strconv.Itoa(status)+".5")))},

		{"ERROR", "error-left-out", "without error", withMember("error", constant(removed{}))},
		{"ERROR", "error-null", "with null for error", withMember("error", toNull)},
		{"ERROR", "error-of-another", "with the error of another status", withMember("error", constant(http.StatusText(other)))},
		{"ERROR", "error-in-small-letters", "with error in lower case", withMember("error", ofText(strings.ToLower))},
		{"ERROR", "error-an-object", "with an object for error", withMember("error", toObject)},

		{"MESSAGE", "message-left-out", "without message", withMember("message", constant(removed{}))},
		{"MESSAGE", "message-null", "with null for message", withMember("message", toNull)},
		{"MESSAGE", "message-empty", "with an empty message", withMember("message", constant(""))},
		{"MESSAGE", "message-in-an-array", "with an array of messages", withMember("message", inArray)},
		{"MESSAGE", "message-an-object", "with an object for message", withMember("message", toObject)},
	}
}

// withMember changes a member of an object body.
func withMember(name string, wrong func(any) any) func(Response) Response {
	return onValue(func(body any) any {
		if object, ok := body.(map[string]any); ok {
			setMember(object, name)(wrong(object[name]))
		}
		return body
	})
}

// onError changes the operation's answers with an error status to some
// requests.
func onError(operation string, status int, meant func(*Target, Request) bool, change func(Response) Response) func(*Target) Middleware {
	return func(a *Target) Middleware {
		return onAnswer(operation, status, func(r Request, answer Response) Response {
			if !meant(a, r) {
				return answer
			}
			answer.Header = answer.Header.Clone()
			return change(answer)
		})
	}
}

// oneWay401Defects damage the 401 for one kind of missing authorization only.
func oneWay401Defects() []Defect {
	ways := []struct {
		id, words, damage string
		meant             func(*Target, Request) bool
	}{
		{"without-a-header", "if the Authorization header is missing", "message-empty",
			func(_ *Target, r Request) bool { return r.Header.Get("Authorization") == "" }},
		{"for-another-scheme", "if the scheme is not Bearer", "text-plain",
			func(_ *Target, r Request) bool { return r.Header.Get("Authorization") != "" && !isBearer(r) }},
		{"for-an-empty-token", "if the token is empty", "body-html", func(_ *Target, r Request) bool { return isBearer(r) && r.token() == "" }},
		{"for-an-unknown-key", "if the key was never issued", "statuscode-as-text", func(a *Target, r Request) bool {
			_, known := a.keyOf(r)
			return r.token() != "" && !known
		}},
		{"for-a-revoked-key", "if the key was revoked", "error-in-small-letters", func(a *Target, r Request) bool {
			key, _ := a.keyOf(r)
			return key.State == profile.KeyRevoked
		}},
	}
	var defects []Defect
	for _, way := range ways {
		damages := errorDamages(http.StatusUnauthorized)
		d := damages[slices.IndexFunc(damages, func(d errorDamage) bool { return d.id == way.damage })]
		requirement := errorPart(http.StatusUnauthorized, d.part)
		for _, op := range boundTo(requirement) {
			defects = append(defects, Defect{
				ID:     defectID(op, "401", d.id, way.id),
				Breaks: spec.Pair{Requirement: requirement, Operation: op},
				Doc:    sentence("answers 401", d.words, way.words),
				Apply:  onError(op, http.StatusUnauthorized, way.meant, d.spoil),
			})
		}
	}
	return defects
}

func isBearer(r Request) bool {
	scheme, _, _ := strings.Cut(strings.ReplaceAll(r.Header.Get("Authorization"), "\t", " "), " ")
	return strings.EqualFold(scheme, "Bearer")
}

// notFoundDefects answer something other than 404 for a path that names what does not
// exist, and serve a body that does, or break on it.
func notFoundDefects() []Defect {
	var defects []Defect
	for requirement, missing := range map[string]struct {
		what, suffix string
		statuses     []int
	}{
		"NOT-FOUND":             {"a resource", "", []int{400, 403, 409, 410, 422, 500}},
		"NOT-FOUND-LEAD":        {"a lead", "of-lead", []int{302, 500, 502}},
		"NOT-FOUND-SUBSEQUENCE": {"a subsequence", "of-subsequence", []int{302, 500, 502}},
	} {
		what, suffix := missing.what, missing.suffix
		for _, op := range boundTo(requirement) {
			add := func(id, doc string, apply func(*Target) Middleware) {
				defects = append(defects, Defect{ID: defectID(op, id, suffix), Breaks: spec.Pair{Requirement: requirement, Operation: op}, Doc: doc,
					Apply: apply})
			}
			meant := func(a *Target, r Request) bool {
				return op != spec.MoveLead || movesListedLead(a, r) == (requirement == "NOT-FOUND-SUBSEQUENCE")
			}
			for _, status := range missing.statuses {
				add("not-found-as-"+strconv.Itoa(status), "answers "+strconv.Itoa(status)+" if "+what+" does not exist",
					onError(op, http.StatusNotFound, meant, failing(status)))
			}
			add("not-found-as-empty-object", "answers 200 with an empty object if "+what+" does not exist",
				onError(op, http.StatusNotFound, meant, func(r Response) Response {
					r.Status, r.Body = http.StatusOK, []byte("{}")
					return r
				}))
			add("not-found-as-another", "uses an existing one if "+what+" does not exist", takingAnother(op, requirement, meant))
		}
	}
	slices.SortFunc(defects, func(a, b Defect) int { return strings.Compare(a.ID, b.ID) })
	return defects
}

// movesListedLead reports whether a lead move names a lead of the profile, so
// that only the subsequence can be missing.
func movesListedLead(a *Target, r Request) bool {
	body, _ := decode(r.Body)
	id := textOf(body, "id")
	return slices.ContainsFunc(slices.Collect(maps.Values(a.Profile.Workspaces)),
		func(w profile.Workspace) bool { return slices.Contains(w.Leads, id) })
}

// takingAnother answers for a missing resource as if another one had been
// named. It reads that one even if the request deletes.
func takingAnother(op, requirement string, meant func(*Target, Request) bool) func(*Target) Middleware {
	return func(a *Target) Middleware {
		return func(next Handler) Handler {
			return func(r Request) (Response, error) {
				answer, err := next(r)
				if err != nil || r.Operation != op || answer.Status != http.StatusNotFound || !meant(a, r) {
					return answer, err
				}
				main := a.Profile.Workspaces[dataset.Main]
				switch {
				case requirement == "NOT-FOUND-SUBSEQUENCE":
					return next(r.withBodyMember("subsequence_id", first(main.Subsequences)))
				case op == spec.MoveLead:
					return next(r.withBodyMember("id", first(main.Leads)))
				case op == spec.AddCampaignVariables:
					return next(r.naming(first(main.Campaigns)))
				case op == spec.DeleteSubsequence:
					return firstSubsequence(next, r)
				default:
					return next(r.redirected(spec.GetPlacementTest, first(main.PlacementTests)))
				}
			}
		}
	}
}

// withBodyMember returns the request with a changed member in its object body.
func (r Request) withBodyMember(name string, value any) Request {
	body, ok := objectIn(r)
	if !ok {
		return r
	}
	r = r.clone()
	body[name] = value
	r.Body = encode(body)
	return r
}

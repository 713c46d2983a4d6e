package faults

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"outreach.example/conformance/spec"
)

// isBackwards reports whether the members of the request's body are not in alphabetical
// order.
func isBackwards(r Request) bool {
	body, ok := objectIn(r)
	if !ok || len(body) < 2 {
		return false
	}
	decoder := json.NewDecoder(bytes.NewReader(r.Body))
	_, _ = decoder.Token() // the brace: objectIn has read the body
	first, _ := decoder.Token()
	for name := range body {
		if name < first.(string) {
			return true
		}
	}
	return false
}

// orderDefects depend on the order of members.
func orderDefects() []Defect {
	const requirement = "REQUEST-ORDER"
	var defects []Defect
	for _, operation := range boundTo(requirement) {
		for _, status := range []int{http.StatusBadRequest, http.StatusInternalServerError} {
			defects = append(defects, breaking(requirement, operation, "backwards-"+strconv.Itoa(status),
				"answers "+strconv.Itoa(status)+" if the members of the body are not in alphabetical order",
				where(operation, isBackwards, refusing(status))))
		}
	}
	forgets := func(field string, sees string) Defect {
		return breaking(requirement, spec.CreatePlacementTest, "backwards-forgets-"+slug(field), "ignores "+field+" if it is not after the other members",
			where(spec.CreatePlacementTest, isBackwards, func(next Handler, r Request) (Response, error) {
				body, _ := objectIn(r)
				delete(body, sees)
				r = r.clone()
				r.Body = encode(body)
				return next(r)
			}))
	}
	return append(defects,
		forgets("description", "description"), forgets("text_only", "text_only"), forgets("schedule", "schedule"),
		breaking(requirement, spec.MoveAccounts, "backwards-moves-nothing", "moves nothing if the members of the body are not in alphabetical order",
			where(spec.MoveAccounts, isBackwards, moved)),
		breaking(requirement, spec.MoveLead, "backwards-moves-another", "answers with the ids in the wrong places if the members are not in alphabetical order",
			where(spec.MoveLead, isBackwards, func(next Handler, r Request) (Response, error) {
				answer, err := next(r)
				if body, ok := decode(answer.Body); ok && err == nil && answer.Status == http.StatusOK {
					row, _ := body.(map[string]any)
					row["id"], row["subsequence_id"] = row["subsequence_id"], row["id"]
					answer.Body = encode(row)
				}
				return answer, err
			})))
}

// choiceDefects refuse a body for the optional fields that it has or lacks.
func choiceDefects() []Defect {
	const requirement = "REQUEST-OPTIONAL"
	var defects []Defect
	refuses := func(damage, doc string, fits func(body map[string]any) bool, b behaviour) {
		defects = append(defects, breaking(requirement, spec.CreatePlacementTest, damage, doc, where(spec.CreatePlacementTest, func(r Request) bool {
			body, ok := objectIn(r)
			return ok && fits(body)
		}, b)))
	}
	lacks := func(body map[string]any) (fields []string) {
		for _, field := range spec.CreateOptional {
			if _, sent := body[field]; !sent {
				fields = append(fields, field)
			}
		}
		return fields
	}
	for _, field := range spec.CreateOptional {
		refuses("complete-but-for-"+slug(field), "refuses a body with all optional fields but "+field,
			func(body map[string]any) bool { return slices.Equal(lacks(body), []string{field}) }, refusing(http.StatusBadRequest))
	}
	complete := func(body map[string]any) bool { return len(lacks(body)) == 0 }
	refuses("complete-500", "answers 500 to a body with all optional fields", complete, refusing(http.StatusInternalServerError))
	refuses("complete-not-stored", "answers with a test that it does not store if the body has all optional fields", complete, createInPassing)
	refuses("example-refused", "refuses the example of the document", func(body map[string]any) bool {
		return body["test_code"] == "ptid_a1b2c3"
	}, refusing(http.StatusBadRequest))
	return defects
}

// nullBodyDefects refuse a deletion whose body is null, or delete nothing.
func nullBodyDefects() []Defect {
	const requirement, remove = "REQUEST-NULL-BODY", spec.DeletePlacementTest
	isNull := func(r Request) bool { return string(bytes.TrimSpace(r.Body)) == "null" }
	return []Defect{
		breaking(requirement, remove, "null-refused", "refuses a deletion with the body null", where(remove, isNull, refusing(http.StatusBadRequest))),
		breaking(requirement, remove, "null-500", "answers 500 to a deletion with the body null", where(remove, isNull, refusing(http.StatusInternalServerError))),
		breaking(requirement, remove, "null-deletes-nothing", "deletes nothing if the body is null", where(remove, isNull,
			func(next Handler, r Request) (Response, error) {
				return next(r.redirected(spec.GetPlacementTest, r.ID))
			})),
	}
}

// optionsServedDefects answer a valid request for provider options in ways that the
// specification does not allow.
func optionsServedDefects() []Defect {
	var defects []Defect
	add := func(damage, doc string, instead Response) {
		defects = append(defects, breaking("OPTIONS-SERVED", spec.CreatePlacementTest, "options-"+damage, doc+" a valid request for provider options", options(instead)))
	}
	for _, status := range []int{http.StatusInternalServerError, http.StatusServiceUnavailable} {
		add(strconv.Itoa(status), "answers "+strconv.Itoa(status)+" to", refusal(status))
	}
	add("redirected", "redirects", Response{http.StatusFound, http.Header{"Location": {"/login"}}, nil})
	add("empty", "answers 204 to", Response{http.StatusNoContent, http.Header{}, nil})
	add("html", "shows a web page to", Response{http.StatusOK, http.Header{"Content-Type": {"text/html"}}, []byte("<html></html>")})
	return defects
}

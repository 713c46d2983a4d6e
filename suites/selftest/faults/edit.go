package faults

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/spec"
)

// onAnswer changes the operation's answers with one status.
func onAnswer(operation string, status int, change func(Request, Response) Response) Middleware {
	return func(next Handler) Handler {
		return func(r Request) (Response, error) {
			answer, err := next(r)
			if err != nil || r.Operation != operation || answer.Status != status {
				return answer, err
			}
			return change(r, answer), nil
		}
	}
}

// onBody changes the decoded body of the operation's answers with one status.
func onBody(operation string, status int, change func(Request, any) any) Middleware {
	return onAnswer(operation, status, func(r Request, answer Response) Response {
		if body, ok := decode(answer.Body); ok {
			answer.Body = encode(change(r, body))
		}
		return answer
	})
}

// rowsIn returns the resources in a decoded 200 answer of the operation.
func rowsIn(operation string, body any) []map[string]any {
	return spec.MustOperation(operation).Rows(body)
}

// onRows changes the resources in the operation's 200 answers in place.
func onRows(operation string, change func(Request, []map[string]any)) Middleware {
	return onBody(operation, http.StatusOK, func(r Request, body any) any {
		change(r, rowsIn(operation, body))
		return body
	})
}

// served returns a 200 answer made by the fault.
func served(body any) Response { return jsonAnswer(http.StatusOK, body) }

// onRequest changes the operation's requests before they are answered.
func onRequest(operation string, change func(Request) Request) Middleware {
	return func(next Handler) Handler {
		return func(r Request) (Response, error) {
			if r.Operation == operation {
				r = change(r.clone())
			}
			return next(r)
		}
	}
}

// breaking returns a defect that does not depend on the target.
func breaking(requirement, operation, damage, doc string, t Middleware) Defect {
	return Defect{ID: defectID(operation, damage), Breaks: spec.Pair{Requirement: requirement, Operation: operation}, Doc: doc,
		Apply: func(*Target) Middleware { return t }}
}

// breakingWith returns a defect that depends on the target's profile.
func breakingWith(requirement, operation, damage, doc string, apply func(*Target) Middleware) Defect {
	d := breaking(requirement, operation, damage, doc, nil)
	d.Apply = apply
	return d
}

// behaviour answers a request in its own way; next is the target.
type behaviour func(next Handler, r Request) (Response, error)

// where applies a behaviour to the operation's matching requests.
func where(operation string, fits func(Request) bool, b behaviour) Middleware {
	return func(next Handler) Handler {
		return func(r Request) (Response, error) {
			if r.Operation == operation && fits(r) {
				return b(next, r)
			}
			return next(r)
		}
	}
}

// refusing answers with an error of that status in the usual form.
func refusing(status int) behaviour {
	return func(Handler, Request) (Response, error) { return refusal(status), nil }
}

func refusal(status int) Response {
	text := http.StatusText(status)
	return jsonAnswer(status, map[string]any{"statusCode": status, "error": text, "message": "The request was refused: " + text})
}

func jsonAnswer(status int, body any) Response {
	return Response{status, http.Header{"Content-Type": {"application/json; charset=utf-8"}}, encode(body)}
}

// asking forwards the request with another key.
func asking(token string) behaviour {
	return func(next Handler, r Request) (Response, error) { return next(r.withToken(token)) }
}

// moved answers an account move with success (Endpoints / Accounts).
func moved(Handler, Request) (Response, error) {
	return jsonAnswer(http.StatusOK, map[string]any{"status": "success"}), nil
}

// showingNothing answers with an empty list.
func showingNothing(_ Handler, r Request) (Response, error) {
	if spec.MustOperation(r.Operation).Answer == spec.Array {
		return jsonAnswer(http.StatusOK, []any{}), nil
	}
	return jsonAnswer(http.StatusOK, map[string]any{"items": []any{}}), nil
}

// fullKey returns a key with full access to the operation: an admin workspace's
// for account moves, else the main workspace's.
func (a *Target) fullKey(operation string) string {
	if operation == spec.MoveAccounts {
		return a.key(dataset.Admin)
	}
	return a.key(dataset.Main)
}

// redirected returns the request without its body, for the id under another
// operation.
func (r Request) redirected(operation, id string) Request {
	op := spec.MustOperation(operation)
	r = r.clone()
	r.Operation, r.ID, r.Method, r.Body = operation, id, op.Method, nil
	r.Path = strings.Replace(op.Path, "{id}", id, 1)
	return r
}

// naming returns the request with another id in its path.
func (r Request) naming(id string) Request {
	body := r.Body
	r = r.redirected(r.Operation, id)
	r.Body = body
	return r
}

// standIn serves requests that the target refuses, as the main workspace would
// be served, in the name of the requesting workspace. It leaves nothing created
// or deleted.
func (a *Target) standIn() behaviour {
	main, token := a.Profile.Workspaces[dataset.Main], a.key(dataset.Main)
	return func(next Handler, r Request) (Response, error) {
		key, _ := a.keyOf(r)
		asker := a.Profile.Workspaces[key.Workspace]
		r = r.withToken(token)
		var names renaming
		names.add(asker.ID, main.ID)
		var answer Response
		var err error
		switch r.Operation {
		case spec.MoveAccounts:
			return moved(next, r)
		case spec.CreatePlacementTest:
			answer, err = createInPassing(next, r)
		case spec.AddCampaignVariables:
			answer, err = next(r.naming(names.add(r.ID, first(main.Campaigns))))
		case spec.GetPlacementTest:
			answer, err = next(r.naming(names.add(r.ID, first(main.PlacementTests))))
		case spec.DeletePlacementTest:
			answer, err = next(r.redirected(spec.GetPlacementTest, names.add(r.ID, first(main.PlacementTests))))
		case spec.DeleteSubsequence:
			answer, err = firstSubsequence(next, r)
			names.add(r.ID, textIn(answer, "id"))
		case spec.MoveLead:
			body, _ := decode(r.Body)
			r.Body = encode(map[string]any{
				"id":             names.add(textOf(body, "id"), first(main.Leads)),
				"subsequence_id": names.add(textOf(body, "subsequence_id"), first(main.Subsequences)),
			})
			answer, err = next(r)
		default:
			answer, err = next(r)
		}
		answer.Body = names.undo(answer.Body)
		return answer, err
	}
}

// createInPassing creates a test, deletes it, and answers with the creation.
func createInPassing(next Handler, r Request) (Response, error) {
	answer, err := next(r)
	if id := textIn(answer, "id"); err == nil && answer.Status == http.StatusOK && id != "" {
		_, err = next(r.redirected(spec.DeletePlacementTest, id))
	}
	return answer, err
}

// firstSubsequence answers with the first subsequence of the list.
func firstSubsequence(next Handler, r Request) (Response, error) {
	list, err := next(r.redirected(spec.ListSubsequences, ""))
	body, _ := decode(list.Body)
	rows := rowsIn(spec.ListSubsequences, body)
	if err != nil || len(rows) == 0 {
		return list, err
	}
	return jsonAnswer(http.StatusOK, rows[0]), nil
}

// renaming maps requested ids to the ids used instead.
type renaming []struct{ asked, standIn string }

// add records a replacement and returns it.
func (n *renaming) add(asked, standIn string) string {
	*n = append(*n, struct{ asked, standIn string }{asked, standIn})
	return standIn
}

// undo restores the requested ids in a body.
func (n renaming) undo(body []byte) []byte {
	for _, name := range n {
		if name.standIn != "" && name.asked != "" {
			body = bytes.ReplaceAll(body, []byte(name.standIn), []byte(name.asked))
		}
	}
	return body
}

// textOf returns a string member of a decoded object; empty if there is none.
func textOf(body any, name string) string {
	object, _ := body.(map[string]any)
	text, _ := object[name].(string)
	return text
}

// textIn is textOf for an answer's body.
func textIn(answer Response, name string) string {
	body, _ := decode(answer.Body)
	return textOf(body, name)
}

func first(ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	return ids[0]
}

// objectIn returns the members of a request's body; ok is false if it is not an
// object.
func objectIn(r Request) (map[string]any, bool) {
	if !json.Valid(r.Body) { // decode accepts data after the first value
		return nil, false
	}
	body, _ := decode(r.Body)
	members, ok := body.(map[string]any)
	return members, ok
}

package faults

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/spec"
)

// then does one thing after the other.
func then(verbs ...verb) verb {
	return func(x *exchange) {
		for _, v := range verbs {
			v(x)
		}
	}
}

// Verbs that answer instead of the target, or in place of its answer.

// refuse answers with an error of that status in the usual form.
func refuse(code int) verb { return func(x *exchange) { x.reply(refusal(code)) } }

// reply answers with a response that the fault makes up.
func reply(answer Response) verb {
	return func(x *exchange) {
		x.reply(Response{answer.Status, answer.Header.Clone(), answer.Body})
	}
}

// showNothing answers with an empty list.
func showNothing(x *exchange) {
	if spec.MustOperation(x.Operation).Answer == spec.Array {
		x.show([]any{})
		return
	}
	x.show(fields{"items": []any{}})
}

// redirect redirects to the URL without the query.
func redirect(x *exchange) {
	x.reply(Response{http.StatusFound, http.Header{"Location": {x.Path}}, nil})
}

func refusal(code int) Response {
	text := http.StatusText(code)
	return jsonAnswer(code, fields{"statusCode": code, "error": text, "message": "The request was refused: " + text})
}

func jsonAnswer(code int, body any) Response {
	return Response{code, http.Header{"Content-Type": {"application/json; charset=utf-8"}}, encode(body)}
}

func plain(code int, mediaType, body string) Response {
	return Response{code, http.Header{"Content-Type": {mediaType}}, []byte(body)}
}

// Verbs that change the answer. They forward the request first.

// answer changes the answer, whatever its status.
func answer(change func(*Response)) verb {
	return func(x *exchange) {
		if x.forward() {
			change(&x.answer)
		}
	}
}

// code changes the status.
func code(status int) verb { return answer(func(r *Response) { r.Status = status }) }

// bytesOf changes the bytes of the body.
func bytesOf(change func([]byte) []byte) verb {
	return answer(func(r *Response) { r.Body = change(bytes.Clone(r.Body)) })
}

// header sets a header, or removes it if the value is empty.
func header(name, value string) verb {
	return answer(func(r *Response) {
		if r.Header.Del(name); value != "" {
			r.Header.Set(name, value)
		}
	})
}

// value changes the decoded body of any answer.
func value(change func(any) any) verb {
	return encoded(func(body any) []byte { return encode(change(body)) })
}

// member changes a member of an object body.
func member(name string, wrong func(any) any) verb {
	return value(func(body any) any {
		if object, ok := body.(fields); ok {
			setMember(object, name)(wrong(object[name]))
		}
		return body
	})
}

// items changes the items of a page or of a plain array.
func items(change func(x *exchange, items []any) []any) verb {
	return func(x *exchange) {
		x.rewrite(func(body any) any {
			switch body := body.(type) {
			case fields:
				if items, ok := body["items"].([]any); ok {
					body["items"] = change(x, items)
				}
			case []any:
				return change(x, body)
			}
			return body
		})
	}
}

// hide leaves out the rows that fit.
func hide(fits func(x *exchange, row fields) bool) verb {
	return items(func(x *exchange, items []any) []any {
		return slices.DeleteFunc(items, func(item any) bool {
			row, ok := item.(fields)
			return ok && fits(x, row)
		})
	})
}

// rows changes the chosen ones of the resources in a 200 answer.
func rows(choose choice, change func(x *exchange, row fields)) verb {
	return func(x *exchange) {
		x.rewriteRows(func(rows []fields) {
			for _, row := range choose(rows) {
				change(x, row)
			}
		})
	}
}

// choice selects rows.
type choice func(rows []fields) []fields

func eachRow(rows []fields) []fields { return rows }
func lastRow(rows []fields) []fields { return rows[max(0, len(rows)-1):] }

// thatFit selects, of those that fit, what choose selects.
func thatFit(choose choice, fits func(row fields) bool) choice {
	return func(rows []fields) []fields {
		return choose(slices.DeleteFunc(slices.Clone(rows), func(row fields) bool { return !fits(row) }))
	}
}

// set gives a field of every row the value that wrong makes of it.
func set(path string, wrong func(any) any) verb { return setIn(eachRow, path, wrong) }

func setIn(choose choice, path string, wrong func(any) any) verb {
	return rows(choose, func(_ *exchange, row fields) { damage(row, path, wrong) })
}

// Verbs that change the request before it is forwarded.

// withKey swaps the key for the role's all:all key.
func withKey(role string) verb {
	return func(x *exchange) { x.edit().Header.Set("Authorization", "Bearer "+x.key(role)) }
}

// allow swaps the key for one that may make the request.
func allow(x *exchange) { x.Request, x.own = x.withToken(x.fullKey(x.Operation)), true }

// dropParam drops a parameter of the query.
func dropParam(key string) verb {
	return func(x *exchange) { x.edit().Query.Del(x.parameterName(key)) }
}

// setParam replaces a parameter of the query.
func setParam(key, value string) verb {
	return func(x *exchange) { x.edit().Query.Set(x.parameterName(key), value) }
}

// put changes a member of the request's body; removed{} drops it.
func put(field string, change func(x *exchange, sent any) any) verb {
	return func(x *exchange) {
		if body := x.sent(); body != nil {
			setMember(body, field)(change(x, body[field]))
			x.edit().Body = encode(body)
		}
	}
}

// dropped drops a member of the request's body.
func dropped(field string) verb { return put(field, func(*exchange, any) any { return removed{} }) }

// swapID replaces the id in the path.
func swapID(of func(x *exchange) string) verb {
	return func(x *exchange) { x.Request, x.own = x.withID(of(x)), true }
}

// Verbs that act beside the request.

// carryOut makes the change that the request asks for, with a key that may, and leaves the
// answer to the next verb.
func carryOut(x *exchange) { _, _ = x.ask(x.withToken(x.fullKey(x.Operation))) }

// inPassing creates a test, deletes it, and answers with the creation.
func inPassing(x *exchange) {
	if id := textOf(x.body(), "id"); id != "" {
		_, _ = x.ask(x.redirected(spec.DeletePlacementTest, id))
	}
}

// delay waits before the answer, as a target may; nothing waits for it to synchronise.
func delay(d time.Duration) verb { return func(*exchange) { time.Sleep(d) } }

// Requests and bodies.

// fullKey returns a key with full access to the operation: an admin workspace's for
// account moves, else the main workspace's.
func (a *Target) fullKey(operation string) string {
	if operation == spec.MoveAccounts {
		return a.key(dataset.Admin)
	}
	return a.key(dataset.Main)
}

// redirected returns the request without its body, for the id under another operation.
func (r Request) redirected(operation, id string) Request {
	op := spec.MustOperation(operation)
	r = r.clone()
	r.Operation, r.ID, r.Method, r.Body = operation, id, op.Method, nil
	r.Path = strings.Replace(op.Path, "{id}", id, 1)
	return r
}

// withID returns the request with another id in its path.
func (r Request) withID(id string) Request {
	body := r.Body
	r = r.redirected(r.Operation, id)
	r.Body = body
	return r
}

// rowsIn returns the resources in a decoded 200 answer of the operation.
func rowsIn(operation string, body any) []fields {
	return spec.MustOperation(operation).Rows(body)
}

// textOf returns a string member of a decoded object; empty if there is none.
func textOf(body any, name string) string {
	object, _ := body.(fields)
	text, _ := object[name].(string)
	return text
}

// objectIn returns the members of a request's body; ok is false if it is not an object.
func objectIn(r Request) (fields, bool) {
	if !json.Valid(r.Body) { // decode accepts data after the first value
		return nil, false
	}
	members, ok := decodedOrNil(r.Body).(fields)
	return members, ok
}

func isBearer(r Request) bool {
	scheme, _, _ := strings.Cut(strings.ReplaceAll(r.Header.Get("Authorization"), "\t", " "), " ")
	return strings.EqualFold(scheme, "Bearer")
}

func first(ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	return ids[0]
}

// removed, assigned to a member of an object, removes it.
type removed struct{}

func setMember(object fields, member string) func(any) {
	return func(v any) {
		if v == (removed{}) {
			delete(object, member)
			return
		}
		object[member] = v
	}
}

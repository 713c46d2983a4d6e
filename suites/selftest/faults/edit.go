package faults

import (
	"bytes"
	"encoding/json"
	"net/http"

	"outreach.example/conformance/spec"
)

// decode decodes a JSON body and keeps numbers as written; ok is false for
// invalid JSON.
func decode(body []byte) (any, bool) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value any
	return value, decoder.Decode(&value) == nil
}

// encode encodes a value from decode.
func encode(value any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic("faults: cannot encode a body: " + err.Error())
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

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

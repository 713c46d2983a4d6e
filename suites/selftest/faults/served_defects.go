package faults

import (
	"net/http"
	"strconv"

	"outreach.example/conformance/spec"
)

// servedDefects leave out operations, as partial implementations do.
func servedDefects() []Defect {
	anything := func(Request) bool { return true }
	var defects []Defect
	for _, op := range spec.Operations() {
		for _, status := range []int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented} {
			defects = append(defects, breaking("SERVED", op.ID, "unserved-"+strconv.Itoa(status),
				"answers "+strconv.Itoa(status)+" to every request", where(op.ID, anything, refusing(status))))
		}
		page := plain(http.StatusNotFound, "text/html", "<!doctype html><title>Not Found</title><h1>Not Found</h1>")
		defects = append(defects, breaking("SERVED", op.ID, "unserved-page", "answers every request with a 404 page of HTML",
			where(op.ID, anything, func(Handler, Request) (Response, error) { return page, nil })))
		if op.ID != spec.DeleteSubsequence { // only a deletion would show it, and there are few subsequences to delete
			defects = append(defects, breakingWith("SERVED", op.ID, "unserved-after-key", "checks the key and then answers 404 to every request",
				func(a *Target) Middleware {
					return Chain(a.keyFirst(), where(op.ID, anything, refusing(http.StatusNotFound)))
				}))
		}
	}
	return defects
}

// keyFirst answers 401 to every request without a valid key, whatever its path.
func (a *Target) keyFirst() Middleware {
	return func(next Handler) Handler {
		return func(r Request) (Response, error) {
			if _, valid := a.isValidKey(r); !valid {
				return refusal(http.StatusUnauthorized), nil
			}
			return next(r)
		}
	}
}

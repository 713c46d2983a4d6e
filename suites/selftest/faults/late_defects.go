package faults

import (
	"net/http"
	"slices"

	"outreach.example/conformance/spec"
)

// lateDefects are defects whose effect shows only after a while, as every change of the target
// does: a check that looks at once misses them.
func lateDefects(all []Defect) []Defect {
	late := func(id string, delay func(*Target, Middleware) Middleware) Defect {
		d := all[slices.IndexFunc(all, func(d Defect) bool { return d.ID == id })]
		atOnce := d.Apply
		d.ID, d.Doc = d.ID+"-late", d.Doc+", and shows it after a while, like any change"
		d.Apply = func(a *Target) Middleware { return delay(a, atOnce(a)) }
		return d
	}
	created := func(a *Target, defect Middleware) Middleware {
		d := a.late()
		return Chain(defect, d.whenAnswered(spec.CreatePlacementTest, createdID),
			onPages(spec.ListPlacementTests, func(row map[string]any) bool { return !d.hides(textOf(row, "id")) }))
	}
	deleted := func(a *Target, defect Middleware) Middleware { return Chain(defect, deletedLater(a, a.late())) }
	moved := func(a *Target, defect Middleware) Middleware {
		return func(next Handler) Handler {
			moves, since := defect(next), a.late()
			return a.cachesPages(a.late())(func(r Request) (Response, error) {
				if r.Operation == spec.MoveAccounts && slices.ContainsFunc(emailsIn(r), since.hides) {
					return next(r)
				}
				answer, err := moves(r)
				if r.Operation == spec.MoveAccounts && err == nil && answer.Status == http.StatusForbidden {
					since.begin(emailsIn(r)...)
				}
				return answer, err
			})
		}
	}
	return []Defect{
		late(spec.DeletePlacementTest+"/longer-id-refused-but-done", deleted),
		late(spec.DeletePlacementTest+"/body-refused-but-done", deleted),
		late(spec.DeletePlacementTest+"/limit-refused-but-deleted", deleted),
		late(spec.CreatePlacementTest+"/invalid-email-subject-created-anyway", created),
		late(spec.MoveAccounts+"/other-admin-key-refused-but-moved", moved),
	}
}

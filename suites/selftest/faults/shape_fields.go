package faults

import (
	"fmt"
	"net/http"

	"outreach.example/conformance/spec"
)

// fieldDefects break each row of the field tables on each operation that shows
// the resource. The plainest damage to a field is in every row; the others hide
// in some rows. A single damage does both.
func fieldDefects() []Defect {
	var defects []Defect
	for _, op := range spec.Operations() {
		for _, f := range spec.Fields() {
			for _, aspect := range []spec.Aspect{spec.Type, spec.Value, spec.Present} {
				if spec.Has(spec.Pair{Requirement: f.Requirement(aspect), Operation: op.ID}) && f.Resource == op.Resource {
					defects = append(defects, defectsOf(op, f, aspect)...)
				}
			}
		}
	}
	return defects
}

func defectsOf(op spec.Operation, f spec.Field, aspect spec.Aspect) []Defect {
	var defects []Defect
	add := func(d fieldDamage, where reach) {
		defects = append(defects, Defect{
			ID:     defectID(op.ID, f.Path, d.id, where.id),
			Breaks: spec.Pair{Requirement: f.Requirement(aspect), Operation: op.ID},
			Doc:    sentence(fmt.Sprintf(d.words, f.Path), where.words),
			Apply:  damaging(op, f, d.wrong, where),
		})
	}
	damages := damagesOf(f, aspect)
	for i, d := range damages {
		if i == 0 {
			add(d, everyRow)
		}
		if i > 0 || len(damages) == 1 && !givesOneAnswer(op.ID) {
			add(d, drawn(hidingPlaces(op), f.Requirement(aspect)+d.id))
		}
	}
	return defects
}

// damaging changes a field in the reached rows.
func damaging(op spec.Operation, f spec.Field, wrong func(any) any, where reach) func(*Target) Middleware {
	return func(a *Target) Middleware {
		return func(next Handler) Handler {
			pick := where.pick(a, next)
			sample := sampleOf(f.Resource)
			return onBody(op.ID, http.StatusOK, func(r Request, body any) any {
				rows := pick(r, body, rowsIn(op.ID, body))
				slots := slotsIn(rows, f.Path, where.onePlace)
				if len(slots) == 0 && len(rows) > 0 && mayShow(a, r, f) {
					// No row shows the field, so nothing could be wrong with
					// it: one row gets it.
					graft(rows[0], sample, f.Path)
					slots = slotsIn(rows[:1], f.Path, where.onePlace)
				}
				for _, s := range slots {
					s.set(wrong(s.value))
				}
				return body
			})(next)
		}
	}
}

// slotsIn returns the places of a field in rows: all, or the last of each row.
func slotsIn(rows []map[string]any, path string, onePlace bool) []slot {
	var slots []slot
	for _, r := range rows {
		at := slotsAt(r, path)
		if onePlace && len(at) > 1 {
			at = at[len(at)-1:]
		}
		slots = append(slots, at...)
	}
	return slots
}

// mayShow reports whether an answer may show a missing field: metadata is shown
// on request, and requests may omit parts of a row.
func mayShow(a *Target, r Request, f spec.Field) bool {
	return f.Path != "metadata" && !a.filtersRows(r)
}

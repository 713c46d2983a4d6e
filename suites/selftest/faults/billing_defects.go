package faults

import (
	"net/http"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// unpaid matches requests for a workspace without an active paid plan.
var unpaid = asker{"unpaid", "a workspace without a paid plan", func(a *Target, r Request) bool {
	key, ok := a.keyOf(r)
	return ok && key.State == profile.KeyUnpaid
}}

// billingDefects serve a workspace that has not paid, or refuse it with a
// status other than 402.
func billingDefects() []Defect {
	var defects []Defect
	for _, op := range spec.Operations() {
		defects = append(defects, whenAsked(op.ID, "BILLING-402", unpaid, "served", "serves %s", (*Target).standIn))
		if op.Answer != spec.One {
			defects = append(defects, whenAsked(op.ID, "BILLING-402", unpaid, "shown-nothing", "shows %s an empty list",
				func(*Target) behaviour { return showingNothing }))
		}
		defects = append(defects, misrefused(op.ID, "BILLING-402", unpaid,
			http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusInternalServerError)...)
	}
	return defects
}

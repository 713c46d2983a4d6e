package suites

import (
	"net/http"

	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// errorResponses judges the errors that every operation can answer with (section
// Errors). The rules judge the bodies of the errors; rate_limits.go provokes 429.
func errorResponses() {
	for _, op := range spec.Operations() {
		Describe(op.ID, func() {
			It("describes a 401 as documented", Rules(spec.ErrorBody(http.StatusUnauthorized)...), Needs(EmptyRequest(op.ID)), func(api *API) {
				provoke(api, unauthorized(api, api.HarmlessRequest())...)
			})
		})
	}
	for _, op := range spec.Billing402.Operations() {
		Describe(op.ID, func() {
			It("refuses a workspace without a paid plan", Requires(spec.Billing402), Needs(RequestOf(dataset.Unpaid, op.ID), KeyFor(dataset.Main, op.ID).Optional()), func(api *API) {
				unpaid := api.Do(unpaid(api))
				if unpaid.Status == http.StatusNotFound && unpaid.Call.Allowed.Status(http.StatusNotFound) {
					api.NotAssessed("a row of the workspace %q, whose lists are barred", dataset.Unpaid)
				}
				FirstTime(api, "provoked", credentials(unpaid.Call))
				// The cursor is that of another workspace, which a server may look at first.
				plain := unpaid.Call.MustBeRefused(spec.Billing402)
				for _, k := range withEachPart(api, dataset.Unpaid, plain) {
					api.Do(k)
				}
			})
			It("describes a 402 as documented", Rules(spec.ErrorBody(http.StatusPaymentRequired)...), Needs(RequestOf(dataset.Unpaid, op.ID)), func(api *API) {
				provoke(api, unpaid(api))
			})
		})
	}
	for _, op := range spec.NotFound.Operations() {
		Describe(op.ID, func() {
			It("answers 404 for an id that does not exist", Requires(spec.NotFound), Needs(HarmlessRequest(op.ID)), func(api *API) {
				api.Do(api.HarmlessRequest())
			})
			It("describes a 404 as documented", Rules(spec.ErrorBody(http.StatusNotFound)...), Needs(HarmlessRequest(op.ID)), func(api *API) {
				api.Do(api.HarmlessRequest())
			})
		})
	}
	Describe(spec.MoveLead, func() {
		for field, requirement := range map[string]spec.ID{"id": spec.NotFoundLead, "subsequence_id": spec.NotFoundSubsequence} {
			It("refuses an unknown "+field, Requires(requirement), func(api *API) {
				refused := api.Do(api.Request().WithField(field, api.FreshID()).MustBeRefused(requirement))
				api.Observe(spec.OpenPointUnknownInBody, "%s: %d", field, refused.Status)
			})
		}
	})
}

// unpaid returns a request of the spec's operation by a workspace without a paid plan.
func unpaid(api *API) Call {
	k := api.RequestAs(dataset.Unpaid, api.Spec.Operation).MustGet(http.StatusPaymentRequired, spec.Billing402)
	if _, entry, _ := api.Workspace(dataset.Unpaid).Named(k.Operation.Subject().Kind); entry == "" && k.Operation.HasPathID() {
		k = k.MayGet(http.StatusNotFound) // no list shows an id of the workspace
	}
	return k
}

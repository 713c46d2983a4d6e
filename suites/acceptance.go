package suites

import (
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega/types"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/schemas/variants"
	"outreach.example/conformance/spec"
)

// acceptance judges that a server takes every form of a valid request: members in any
// order, any choice of the optional members, a body that may be null.
func acceptance() {
	Describe(spec.CreatePlacementTest, func() {
		It("understands members in any order", Requires(spec.RequestOrder), createsInAnyOrder)
		It("accepts any choice of optional fields", Requires(spec.RequestOptional), func(api *API) {
			api.expectAllCreated(api.choices()...)
		})
	})
	Describe(spec.DeletePlacementTest, func() {
		It("accepts a null body", Requires(spec.RequestNullBody), func(api *API) {
			remove := api.Request().WithRawBody("null")
			if api.Expect(api.Do(remove)).To(BeServed()) {
				get := api.As(dataset.Main, spec.GetPlacementTest).WithID(remove.id)
				api.Expect(api.untilGone("a deletion in a get", get)).To(HaveStatus(http.StatusNotFound))
			}
		})
	})
	Describe(spec.MoveLead, func() {
		It("understands members in any order", Requires(spec.RequestOrder), func(api *API) {
			request := api.Request()
			api.MustDo(request)
			moved := api.Do(request.Backwards())
			if api.Expect(moved).To(BeServed()) {
				api.Expect(moved).To(HaveField("id", EqualID(request.members()["id"].(string))))
				api.Expect(moved).To(HaveField("subsequence_id", EqualID(request.members()["subsequence_id"].(string))))
			}
		})
	})
	Describe(spec.MoveAccounts, func() {
		It("understands members in any order", Requires(spec.RequestOrder), func(api *API) {
			source, destination := api.subWorkspaces(dataset.Admin)
			admin := api.As(dataset.Admin, spec.MoveAccounts)
			away, back := admin.WithBody(move(source, destination, source.Accounts[0])), admin.WithBody(move(destination, source, source.Accounts[0]))
			api.moves(away)
			api.moves(back)
			// Each body in reverse order stands between usual ones, which show where the account is.
			for _, k := range []Call{away.Backwards(), back, away, back.Backwards(), away, back} {
				if moved := api.untilMoved(k); !moved.OK() {
					api.Expect(moved).To(BeServed())
					return
				}
			}
			if api.Do(back.MayBeRefused()).Status == http.StatusOK {
				api.NotAssessed("%s", placeUnknown)
			}
			api.For(spec.RequestOrder).Assessed()
		})
	})
}

// createsInAnyOrder creates a test from the same members in two orders. Of the second one,
// the response and a get must show what they show of the first one.
func createsInAnyOrder(api *API) {
	request := api.withAllOptional(api.Request())
	reversed := request.WithField("name", api.Word()).Backwards() // a server may refuse the same name again
	usual, backwards := api.MustDo(request), api.Do(reversed)
	if !backwards.OK() {
		api.Expect(backwards).To(BeServed())
		return
	}
	found := api.find(backwards)
	if !isMade(backwards, found) {
		api.NotAssessed("a get that shows the test that was created")
	}
	for field, sent := range reversed.members() {
		if field == "run_immediately" || !fits(Keep(field, request.members()[field]), usual.Row()[field]) {
			continue // an instruction, or not kept in any order
		}
		api.Expect(backwards).To(HaveField(field, Keep(field, sent)))
		api.Expect(found).To(HaveField(field, Keep(field, sent)))
	}
}

// fits reports whether the matcher accepts the value.
func fits(matcher types.GomegaMatcher, value any) bool {
	ok, err := matcher.Match(value)
	return ok && err == nil
}

// choices returns creations with all optional fields, with all but one, and with the
// document's example. None of them sends an email.
func (api *API) choices() []Call {
	complete := api.withAllOptional(api.Request()).WithField("status", paused)
	calls := []Call{complete, api.example()}
	for _, field := range spec.CreateOptional {
		if _, has := complete.members()[field]; has {
			k := complete.WithoutField(field).WithField("name", api.Word())
			if field == "schedule" { // an automated test may need it
				k = k.WithField("type", 1)
			}
			calls = append(calls, k)
		}
	}
	return calls
}

// example returns the creation that the document shows. Names and addresses are those of a
// run, the test is paused, and ids are those of the target.
func (api *API) example() Call {
	k := api.Request()
	for field, value := range variants.Example(spec.CreatePlacementTest) {
		switch field {
		case "name", "email_subject", "emails":
			continue
		case "campaign_id", "tags", "recipients_labels", "automations":
			known, ok := api.optionalValue(field)
			if !ok {
				continue
			}
			value = known
		case "status":
			value = paused
		case "run_immediately":
			value = false
		}
		k = k.WithField(field, value)
	}
	return k
}

// expectAllCreated expects that each request makes a test that can be read.
func (api *API) expectAllCreated(calls ...Call) {
	for _, made := range api.DoAll(calls...) {
		api.expectMade(made)
	}
	api.tidyUp()
}

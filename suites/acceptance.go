package suites

import (
	"maps"
	"net/http"
	"slices"

	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/schemas/contract"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// acceptance judges that a server takes every form of a valid request: members in any
// order, any choice of the optional members, a body that may be null.
func acceptance() {
	Describe(spec.CreatePlacementTest, func() {
		It("understands members in any order", Requires(spec.RequestOrder), Needs(Implemented(spec.GetPlacementTest)), createsInAnyOrder)
		It("accepts any choice of optional fields", Requires(spec.RequestOptional), Needs(Implemented(spec.GetPlacementTest)), func(api *API) {
			expectAllCreated(api, choices(api)...)
		})
	})
	Describe(spec.DeletePlacementTest, func() {
		It("accepts a null body", Requires(spec.RequestNullBody), Needs(Implemented(spec.GetPlacementTest).Optional()), func(api *API) {
			remove := api.Request().WithBody(Raw("null")).Breaking(spec.RequestNullBody)
			if api.Do(remove).OK() {
				get := api.As(dataset.Main, spec.GetPlacementTest).WithID(remove.ID)
				api.Expect(UntilGone(api, "a deletion in a get", get.Breaking(spec.RequestNullBody))).To(HaveStatus(http.StatusNotFound))
			}
		})
	})
	Describe(spec.MoveLead, func() {
		It("understands members in any order", Requires(spec.RequestOrder), func(api *API) {
			request := api.Request()
			api.Do(request)
			moved := api.Do(Backwards(request).Breaking(spec.RequestOrder))
			if moved.OK() {
				api.Expect(moved).To(HaveMember("id", EqualID(request.Members()["id"].(string))))
				api.Expect(moved).To(HaveMember("subsequence_id", EqualID(request.Members()["subsequence_id"].(string))))
			}
		})
	})
	Describe(spec.MoveAccounts, func() {
		It("understands members in any order", Requires(spec.RequestOrder), func(api *API) {
			source, destination := TwoWorkspaces(api, dataset.Admin)
			admin := api.As(dataset.Admin, spec.MoveAccounts)
			away, back := admin.WithBody(Move(source, destination, source.Accounts[0])), admin.WithBody(Move(destination, source, source.Accounts[0]))
			moves(api, away)
			moves(api, back)
			// Each body in reverse order stands between usual ones, which show where the account is.
			for _, k := range []Call{Backwards(away), back, away, Backwards(back), away, back} {
				if moved := untilMoved(api, k); !moved.OK() {
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
	request := WithAllOptional(api, api.Request())
	reversed := Backwards(request.WithField("name", api.Word())) // a server may refuse the same name again
	usual, backwards := api.Do(request), api.Do(reversed.Breaking(spec.RequestOrder))
	if !backwards.OK() {
		return
	}
	found := Find(api, backwards)
	if !IsMade(backwards, found) {
		api.NotAssessed("a get that shows the test that was created")
	}
	members := reversed.Members()
	for _, field := range slices.Sorted(maps.Keys(members)) {
		sent := members[field]
		if field == "run_immediately" || !Fits(Keep(field, request.Members()[field]), usual.Row()[field]) {
			continue // an instruction, or not kept in any order
		}
		api.Expect(backwards).To(HaveMember(field, Keep(field, sent)))
		api.Expect(found).To(HaveMember(field, Keep(field, sent)))
	}
}

// choices returns creations with all optional fields, with all but one, and with the
// document's example. None of them sends an email.
func choices(api *API) []Call {
	complete := WithAllOptional(api, api.Request()).WithField("status", Paused)
	calls := []Call{complete, example(api)}
	for _, field := range spec.CreateOptional {
		if _, has := complete.Members()[field]; has {
			k := complete.WithField(field, Absent).WithField("name", api.Word())
			if field == "schedule" { // an automated test may need it
				k = k.WithField("type", 1).WithField("timestamp_next_run", Absent)
			}
			calls = append(calls, k)
		}
	}
	return calls
}

// example returns the creation that the document shows. Names and addresses are those of a
// run, the test is paused, and ids are those of the target.
func example(api *API) Call {
	k := api.Request()
	for field, value := range contract.Example(spec.CreatePlacementTest) {
		switch field {
		case "name", "email_subject", "emails":
			continue
		case "campaign_id", "tags", "recipients_labels", "automations":
			known, ok := OptionalValue(api, field)
			if !ok {
				continue
			}
			value = known
		case "status":
			value = Paused
		case "run_immediately":
			value = false
		}
		k = k.WithField(field, value)
	}
	return k
}

// expectAllCreated expects that each request makes a test that can be read.
func expectAllCreated(api *API, calls ...Call) {
	for i, k := range calls {
		calls[i] = k.Breaking(api.Requirement())
	}
	for _, made := range api.DoAll(calls...) {
		expectMade(api, made)
	}
	TidyUp(api)
}

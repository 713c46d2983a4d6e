package suites

import (
	"slices"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/schemas/variants"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"

	. "outreach.example/conformance/suites/match"
)

// requests sends what a server must not accept.
func requests() {
	for _, op := range spec.RequestJSON.Operations() {
		Describe(op.ID, func() {
			It("refuses a body that is not JSON", Requires(spec.RequestJSON), func(api *API) {
				request := api.Request()
				expectNotAccepted(api, request.WithBody(Raw(`{"name": "breaks o`)))
				expectNotAccepted(api, request.WithBody(Raw("name=conformance&emails=a%40example.com")))
			})
			It("refuses a body that is not an object", Requires(spec.RequestObject), func(api *API) {
				expectNotAccepted(api, api.Request().WithBody(Raw(`[]`)))
				expectNotAccepted(api, api.Request().WithBody(Raw(`"text"`)))
			})
		})
	}
	for _, op := range spec.RequestPathID.Operations() {
		Describe(op.ID, func() {
			It("refuses a path id that is not a UUID", Requires(spec.RequestPathID), Needs(HarmlessRequestOf(dataset.Main, op.ID)), func(api *API) {
				request := HarmlessRequestAs(api, dataset.Main, op.ID)
				for _, id := range []string{"not-a-uuid", "123", "01890000-0000-7000-8000-00000000000g", "100%", "O'Neil", "größe"} {
					expectNotAccepted(api, request.WithID(id))
				}
			})
		})
	}
	Describe(spec.CreatePlacementTest, func() {
		for _, field := range spec.CreateRequired {
			It("refuses a test without "+field, Requires(spec.RequestRequired(field)), func(api *API) {
				calls := []Call{api.Request().WithField(field, Absent)}
				if field != "type" { // an automated test needs the field, too
					calls = append(calls, Creating(api, "type", variants.Variant{Value: 2.0}).WithField(field, Absent))
				}
				expectNotAccepted(api, calls...)
			})
		}
		for _, field := range slices.Concat(spec.CreateRequired, spec.CreateOptional) {
			It("refuses an invalid "+field, Requires(spec.RequestInvalid(field)), func(api *API) {
				var calls []Call
				invalid := variants.Member(spec.CreatePlacementTest, field).Invalid
				for _, v := range slices.Concat(invalid, amongValid(api, spec.CreatePlacementTest, field, invalid)) {
					calls = append(calls, api.Request().WithField(field, v.Value))
				}
				if field == "campaign_id" {
					calls = append(calls, api.Request().WithField(field, api.FreshID()))
				}
				expectNotAccepted(api, calls...)
				expectConverted(api, field)
			})
		}
	})
	Describe(spec.AddCampaignVariables, func() {
		It("refuses a body without variables", Requires(spec.RequestRequiredVariables), func(api *API) {
			expectNotAccepted(api, api.Request().WithField("variables", Absent))
		})
	})
	Describe(spec.MoveAccounts, func() {
		It("refuses an empty list of emails", Requires(spec.RequestEmailsEmpty), func(api *API) {
			expectNotAccepted(api, api.Request().WithField("emails", []any{}))
		})
	})
	for _, part := range invalidParts {
		Describe(part.operation, func() {
			It("refuses an invalid "+part.name, Requires(part.requirement), func(api *API) {
				request := api.Request()
				all := variants.Member(part.operation, part.name).Invalid
				for _, invalid := range slices.Concat(all, amongValid(api, part.operation, part.name, all)) {
					if items, isArray := invalid.Value.([]any); invalid.Value != nil && (!isArray || len(items) > 0) {
						expectNotAccepted(api, request.WithField(part.name, invalid.Value))
					}
				}
				for _, odd := range oddLists[part.operation] {
					api.Do(request.WithField(part.name, odd).MayBeRefused().Breaking(part.requirement))
				}
			})
		})
	}
}

// oddLists are lists that a server may refuse or take. The account does not exist, so nothing
// moves.
var oddLists = map[string][][]string{
	spec.AddCampaignVariables: {{}, {"conformance", "conformance"}},
	spec.MoveAccounts:         {{"conformance@example.com", "conformance@example.com"}},
}

// invalidParts are the members of bodies other than that of create. null and an empty
// array are not among their invalid values: which members a move requires is open.
var invalidParts = []struct {
	operation, name string
	requirement     spec.ID
}{
	{spec.AddCampaignVariables, "variables", spec.RequestInvalidVariables},
	{spec.MoveLead, "id", spec.RequestInvalidID},
	{spec.MoveLead, "subsequence_id", spec.RequestInvalidSubsequenceID},
	{spec.MoveAccounts, "emails", spec.RequestInvalidAccountEmails},
	{spec.MoveAccounts, "source_workspace_id", spec.RequestInvalidSourceWorkspaceID},
	{spec.MoveAccounts, "destination_workspace_id", spec.RequestInvalidDestinationWorkspaceID},
}

// amongValid returns, for each array of one invalid item, the array with valid items around
// it: a server may look at the first item alone, or at the last one.
func amongValid(api *API, operation, member string, invalid []variants.Variant) []variants.Variant {
	valid := validItems(api, operation, member)
	if len(valid) == 0 {
		return nil
	}
	var all []variants.Variant
	for _, v := range invalid {
		items, isArray := v.Value.([]any)
		if isArray && len(items) == 1 && items[0] == any("conformance") && operation == spec.MoveAccounts {
			continue // a server may move the accounts that it knows
		}
		if isArray && len(items) == 1 && strings.HasPrefix(v.What, variants.AnItem) {
			among := slices.Concat(valid[:1], items, valid[1:min(len(valid), 2)])
			all = append(all, variants.Variant{What: v.What + " among valid ones", Value: among})
		}
	}
	return all
}

// validItems returns different items that an array of the body may hold; none if nothing
// shows one.
func validItems(api *API, operation, member string) []any {
	var value any
	switch {
	case operation == spec.AddCampaignVariables:
		value = []any{"conformance", "conformanceToo"}
	case operation == spec.CreatePlacementTest && member == "emails":
		value = Addresses(api, 2)
	case operation == spec.CreatePlacementTest && member == "tags" && len(api.Workspace(dataset.Main).Tags) > 1:
		value = api.Workspace(dataset.Main).Tags[:2]
	case operation == spec.CreatePlacementTest && slices.Contains([]string{"tags", "recipients_labels", "automations"}, member):
		value, _ = OptionalValue(api, member)
	case operation == spec.MoveAccounts && member == "emails":
		value = api.Request().Members()[member]
	}
	items, _ := Normalize(value).([]any)
	return items
}

// expectNotAccepted sends requests of one operation, each invalid in one respect. They must
// be refused, and no test may come of them, whatever the responses say.
func expectNotAccepted(api *API, calls ...Call) {
	creates := calls[0].Operation.ID == spec.CreatePlacementTest
	var before, after map[string]map[string]any
	for i, k := range calls {
		calls[i] = k.MustBeRefused(api.Requirement())
	}
	if creates {
		before = newestTests(api)
	}
	responses := api.DoAll(calls...)
	if creates && !api.Profile.Stateless && api.Serves(spec.ListPlacementTests) {
		after, _ = newestAfterAnother(api) // if that does not show, the others had as much time
	}
	for _, response := range responses {
		refused := response.Status/100 == 4
		api.Observe(spec.OpenPointInvalidRequest, "%s", Refusal(response))
		if made := madeOf(response, before, after); refused && len(made) > 0 {
			rollBack(api, response.Call, made)
			api.Expect(response).To(MakeNothing(made))
		}
	}
}

// expectConverted creates tests with values that a lenient server converts. It may refuse
// them. A server that takes one must not show it as it was sent.
func expectConverted(api *API, field string) {
	if field == "name" {
		return // it marks the test as that of the run
	}
	var calls []Call
	for _, v := range variants.Member(spec.CreatePlacementTest, field).Loose {
		k := Creating(api, field, variants.Variant{Open: true}).WithField(field, v.Value)
		calls = append(calls, k)
	}
	for _, r := range api.DoAll(calls...) {
		if !r.OK() {
			continue
		}
		converted := gomega.Not(EqualJSON(r.SentField(field)))
		if r.SentField(field) == "false" && !Fits(EqualJSON(true), api.Do(api.Request()).Row()[field]) { // true is no default
			converted = gomega.And(converted, gomega.Not(EqualJSON(true)))
		}
		if api.Expect(r).To(HaveMember(field, Be("a refusal, or the value in its documented type and form", converted))) {
		}
	}
}

// newest is how many tests are searched for one that should not be there: others
// may create some meanwhile.
const newest = MaxLimit

func newestTests(api *API) map[string]map[string]any {
	if !api.Serves(spec.ListPlacementTests) {
		return nil
	}
	list := api.As(dataset.Main, spec.ListPlacementTests).WithQuery("sort_order", "desc").WithQuery("limit", strconv.Itoa(newest))
	return rowsByKey(api.Do(list.Breaking(spec.Status200)))
}

func rowsByKey(page Response) map[string]map[string]any {
	rows := map[string]map[string]any{}
	for _, row := range page.Rows() {
		rows[paging.KeyOf(page.Call.Operation.Resource, row)] = row
	}
	return rows
}

// madeOf returns the tests that were made of the refused body: they bear its
// name or its subject, and no other test does.
func madeOf(refused Response, before, after map[string]map[string]any) []map[string]any {
	sent := refused.Call.Members()
	var made []map[string]any
	for key, row := range after {
		if before[key] == nil && (SameText(row["name"], sent["name"]) || SameText(row["email_subject"], sent["email_subject"])) {
			made = append(made, row)
		}
	}
	return made
}

// MakeNothing matches a refusal that created no test.
func MakeNothing(made []map[string]any) types.GomegaMatcher {
	return &Expectation[Response]{Words: "make nothing of a refused request", Judge: func(r Response) Verdict {
		found := Verdict{Assessed: 1}
		for _, row := range made {
			found.Findings = append(found.Findings, Found(r, "", "no test", "the response "+Readable(r)+", and the list shows the test "+Shorten(Readable(row))))
		}
		return found
	}}
}

// rollBack deletes the tests that a refused creation made, when the spec ends.
func rollBack(api *API, refused Call, made []map[string]any) {
	for _, row := range made {
		if undo := api.Sandbox().Shown(Change(api, refused), row); undo != nil {
			api.Cleanup(undo)
		}
	}
}

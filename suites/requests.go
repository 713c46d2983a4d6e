package suites

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/schemas/contract"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
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
					calls = append(calls, Creating(api, "type", contract.Variant{Value: 2.0}).WithField(field, Absent))
				}
				expectNotAccepted(api, calls...)
			})
		}
		for _, field := range slices.Concat(spec.CreateRequired, spec.CreateOptional) {
			It("refuses an invalid "+field, Requires(spec.RequestInvalid(field)), func(api *API) {
				var calls []Call
				invalid := contract.Member(spec.CreatePlacementTest, field).Invalid
				for _, v := range amongValid(api, spec.CreatePlacementTest, field, invalid) {
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
				all := contract.Member(part.operation, part.name).Invalid
				for _, invalid := range amongValid(api, part.operation, part.name, all) {
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

// amongValid puts valid items around each invalid one: a server may look at the first item of
// an array alone, or at the last one. The first invalid item is also sent by itself.
func amongValid(api *API, operation, member string, invalid []contract.Variant) (all []contract.Variant) {
	valid, isFirst := validItems(api, operation, member), true
	for _, v := range invalid {
		items, _ := v.Value.([]any)
		isItem := len(valid) > 0 && len(items) == 1 && strings.HasPrefix(v.What, contract.AnItem)
		if isItem && items[0] == any("conformance") && operation == spec.MoveAccounts {
			isItem = false // a server may move the accounts that it knows
		}
		if !isItem || isFirst {
			all = append(all, v)
		}
		if isItem {
			isFirst = false
			all = append(all, contract.Variant{What: v.What + " among valid ones", Value: slices.Concat(valid[:1], items, valid[1:min(len(valid), 2)])})
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
	for i, k := range calls {
		calls[i] = k.MustBeRefused(api.Requirement())
	}
	responses := api.DoAll(calls...)
	var newest map[string]map[string]any
	if calls[0].Operation.ID == spec.CreatePlacementTest && !api.Profile.Stateless && api.Serves(spec.ListPlacementTests) {
		_, newest, _ = newestAfterAnother(api) // if that does not show, the others had as much time
	}
	for _, response := range responses {
		api.Observe(spec.OpenPointInvalidRequest, "%s", Refusal(response))
		if response.Status/100 == 4 {
			api.For(api.Requirement()).Judge(madeNothing(api, response, newest))
		}
	}
}

// madeNothing judges that no test of the list was made of the refused body. Such a test bears
// the name or the subject that the run drew for it. It is deleted when the spec ends.
func madeNothing(api *API, refused Response, newest map[string]map[string]any) (found Verdict) {
	sent := refused.Call.Members()
	for _, key := range slices.Sorted(maps.Keys(newest)) {
		row := newest[key]
		if !SameText(row["name"], sent["name"]) && !SameText(row["email_subject"], sent["email_subject"]) {
			continue
		}
		found.Add(Found(refused, "", "no test", "the response "+Readable(refused)+", and the list shows the test "+Shorten(Readable(row))))
		if undo := api.Sandbox().Shown(Change(api, refused.Call), row); undo != nil {
			api.Cleanup(undo)
		}
	}
	return found
}

// expectConverted creates tests with values that a lenient server converts. It may refuse
// them. A server that takes one must not show it as it was sent.
func expectConverted(api *API, field string) {
	if field == "name" {
		return // it marks the test as that of the run
	}
	var calls []Call
	for _, v := range contract.Member(spec.CreatePlacementTest, field).Loose {
		k := Creating(api, field, contract.Variant{Open: true}).WithField(field, v.Value).Breaking(api.Requirement())
		Disregard(api, k)
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
		api.Expect(r).To(HaveMember(field, Be("a refusal, or the value in its documented type and form", converted)))
	}
}

// newest is how many tests are searched for one that should not be there: others
// may create some meanwhile.
const newest = spec.MaxLimit

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

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
)

// requests sends what a server must not accept.
func requests() {
	for _, op := range spec.RequestJSON.Operations() {
		Describe(op.ID, func() {
			It("refuses a body that is not JSON", Requires(spec.RequestJSON), func(api *API) {
				request := api.Request()
				api.expectNotAccepted(request.WithRawBody(`{"name": "breaks o`))
				api.expectNotAccepted(request.WithRawBody("name=conformance&emails=a%40example.com"))
			})
			It("refuses a body that is not an object", Requires(spec.RequestObject), func(api *API) {
				api.expectNotAccepted(api.Request().WithRawBody(`[]`))
				api.expectNotAccepted(api.Request().WithRawBody(`"text"`))
			})
		})
	}
	for _, op := range spec.RequestPathID.Operations() {
		Describe(op.ID, func() {
			It("refuses a path id that is not a UUID", Requires(spec.RequestPathID), func(api *API) {
				request := api.harmlessRequestAs(dataset.Main, op.ID)
				for _, id := range []string{"not-a-uuid", "123", "01890000-0000-7000-8000-00000000000g", "100%", "O'Neil", "größe"} {
					api.expectNotAccepted(request.WithID(id))
				}
			})
		})
	}
	Describe(spec.CreatePlacementTest, func() {
		for _, field := range spec.CreateRequired {
			It("refuses a test without "+field, Requires(spec.RequestRequired(field)), func(api *API) {
				calls := []Call{api.Request().WithoutField(field)}
				if field != "type" { // an automated test needs the field, too
					calls = append(calls, api.creating("type", variants.Variant{Value: 2.0}).WithoutField(field))
				}
				api.expectNotAccepted(calls...)
			})
		}
		for _, field := range slices.Concat(spec.CreateRequired, spec.CreateOptional) {
			It("refuses an invalid "+field, Requires(spec.RequestInvalid(field)), func(api *API) {
				var calls []Call
				invalid := variants.Member(spec.CreatePlacementTest, field).Invalid
				for _, v := range slices.Concat(invalid, api.amongValid(spec.CreatePlacementTest, field, invalid)) {
					calls = append(calls, api.Request().WithField(field, v.Value))
				}
				if field == "campaign_id" {
					calls = append(calls, api.Request().WithField(field, api.FreshID()))
				}
				api.expectNotAccepted(calls...)
				api.expectConverted(field)
			})
		}
	})
	Describe(spec.AddCampaignVariables, func() {
		It("refuses a body without variables", Requires(spec.RequestRequiredVariables), func(api *API) {
			api.expectNotAccepted(api.Request().WithoutField("variables"))
		})
	})
	Describe(spec.MoveAccounts, func() {
		It("refuses an empty list of emails", Requires(spec.RequestEmailsEmpty), func(api *API) {
			api.expectNotAccepted(api.Request().WithField("emails", []any{}))
		})
	})
	for _, part := range invalidParts {
		Describe(part.operation, func() {
			It("refuses an invalid "+part.name, Requires(part.requirement), func(api *API) {
				request := api.Request()
				all := variants.Member(part.operation, part.name).Invalid
				for _, invalid := range slices.Concat(all, api.amongValid(part.operation, part.name, all)) {
					if items, isArray := invalid.Value.([]any); invalid.Value != nil && (!isArray || len(items) > 0) {
						api.expectNotAccepted(request.WithField(part.name, invalid.Value))
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
func (api *API) amongValid(operation, member string, invalid []variants.Variant) []variants.Variant {
	valid := api.validItems(operation, member)
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
func (api *API) validItems(operation, member string) []any {
	var value any
	switch {
	case operation == spec.AddCampaignVariables:
		value = []any{"conformance", "conformanceToo"}
	case operation == spec.CreatePlacementTest && member == "emails":
		value = api.addresses(2)
	case operation == spec.CreatePlacementTest && member == "tags" && len(api.Workspace(dataset.Main).Tags) > 1:
		value = api.Workspace(dataset.Main).Tags[:2]
	case operation == spec.CreatePlacementTest && slices.Contains([]string{"tags", "recipients_labels", "automations"}, member):
		value, _ = api.optionalValue(member)
	case operation == spec.MoveAccounts && member == "emails":
		value = api.Request().members()[member]
	}
	items, _ := normalize(value).([]any)
	return items
}

// expectNotAccepted sends requests of one operation, each invalid in one respect. They must
// be refused, and no test may come of them, whatever the responses say.
func (api *API) expectNotAccepted(calls ...Call) {
	creates := calls[0].Operation.ID == spec.CreatePlacementTest
	var before, after map[string]map[string]any
	for i, k := range calls {
		calls[i] = k.MustBeRefused()
	}
	if creates {
		before = api.newestTests()
		for _, k := range calls {
			api.suspect(k, api.spec.Pairs[0])
		}
	}
	responses := api.DoAll(calls...)
	if creates && !api.Profile.Stateless && api.Serves(spec.ListPlacementTests) {
		after, _ = api.newestAfterAnother() // if that does not show, the others had as much time
	}
	for _, response := range responses {
		refused := api.Expect(response).To(BeRefused())
		api.Observe(spec.OpenPointInvalidRequest, "%s", refusal(response))
		if made := madeOf(response, before, after); refused && len(made) > 0 {
			api.rollBack(response.Call, made)
			api.Expect(response).To(MakeNothing(made))
		}
	}
}

// expectConverted creates tests with values that a lenient server converts. It may refuse
// them. A server that takes one must not show it as it was sent.
func (api *API) expectConverted(field string) {
	if field == "name" {
		return // it marks the test as that of the run
	}
	var calls []Call
	for _, v := range variants.Member(spec.CreatePlacementTest, field).Loose {
		k := api.creating(field, variants.Variant{Open: true}).WithField(field, v.Value)
		api.suspect(k, api.spec.Pairs[0])
		calls = append(calls, k)
	}
	for _, r := range api.DoAll(calls...) {
		if !r.OK() {
			continue
		}
		converted := gomega.Not(EqualJSON(r.SentField(field)))
		if r.SentField(field) == "false" && !fits(EqualJSON(true), api.MustDo(api.Request()).Row()[field]) { // true is no default
			converted = gomega.And(converted, gomega.Not(EqualJSON(true)))
		}
		if api.Expect(r).To(HaveField(field, Be("a refusal, or the value in its documented type and form", converted))) {
			api.unsuspect(r.Call)
		}
	}
}

// unsuspect forgets a body that a server may accept: what is wrong with its row is charged
// as usual.
func (api *API) unsuspect(k Call) {
	for _, value := range k.members() {
		if text, ok := value.(string); ok {
			api.suspects.Delete(text)
		}
	}
}

// suspect remembers the texts of a body that must be refused. A row that shows one
// of them came of it, and what is wrong with that row follows from the violated pair.
func (api *API) suspect(k Call, violated spec.Pair) {
	for _, field := range []string{"name", "email_subject", "email_body"} { // each with random letters
		if text, ok := k.members()[field].(string); ok && len(text) >= 16 {
			api.suspects.Store(text, violated)
		}
	}
}

// causeOf returns the pair whose violation let the row of the finding come about, if it
// is known, or the pair that the spec violates if it served what it should have refused.
func (api *API) causeOf(r Response, pointer string) causedBy {
	for i, row := range r.Rows() {
		if at := r.Call.Operation.RowPointer(i); pointer != at && !strings.HasPrefix(pointer, at+"/") {
			continue
		}
		for _, value := range row {
			if text, ok := value.(string); ok {
				if cause, found := api.suspects.Load(text); found {
					return causedBy{pair: cause.(spec.Pair), follows: true}
				}
			}
		}
	}
	if r.Call.allowed.Open() && len(api.spec.Pairs) > 0 && !api.spec.rule {
		return causedBy{pair: api.spec.Pairs[0], follows: true, ifViolated: true}
	}
	return causedBy{}
}

// newest is how many tests are searched for one that should not be there: others
// may create some meanwhile.
const newest = maxLimit

func (api *API) newestTests() map[string]map[string]any {
	if !api.Serves(spec.ListPlacementTests) {
		return nil
	}
	list := api.As(dataset.Main, spec.ListPlacementTests).WithQuery("sort_order", "desc").WithQuery("limit", strconv.Itoa(newest))
	return rowsByKey(api.Do(list))
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
	sent := refused.Call.members()
	var made []map[string]any
	for key, row := range after {
		if before[key] == nil && (sameText(row["name"], sent["name"]) || sameText(row["email_subject"], sent["email_subject"])) {
			made = append(made, row)
		}
	}
	return made
}

// MakeNothing matches a refusal that created no test.
func MakeNothing(made []map[string]any) types.GomegaMatcher {
	return &expectation[Response]{words: "make nothing of a refused request", judge: func(r Response) Verdict {
		found := Verdict{Assessed: 1}
		for _, row := range made {
			found.Findings = append(found.Findings, Finding{r, "", "no test", "the response " + describe(r) + ", and the list shows the test " + shorten(describe(row))})
		}
		return found
	}}
}

// rollBack deletes the tests that a refused creation made, when the spec ends.
func (api *API) rollBack(refused Call, made []map[string]any) {
	for _, row := range made {
		if undo := api.sandbox().Shown(api.change(refused), row); undo != nil {
			api.afterwards(undo)
		}
	}
}

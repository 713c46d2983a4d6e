package spec

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// label matches a valid Ginkgo label that is also one shell word.
var label = regexp.MustCompile(`^[A-Z0-9][A-Z0-9_.-]*$`)

// Each entry of the catalogue is complete and has an id of its own. Each requirement quotes the
// specification, and each quote stands in it.
func TestTheCatalogueIsComplete(t *testing.T) {
	g, seen := NewWithT(t), map[string]bool{}
	groups, profiles := map[Group]bool{}, map[Profile]bool{ProfileFull: true}
	entry := func(id string, operations []string, texts ...string) {
		g.Expect(seen).NotTo(HaveKey(id), "it stands twice")
		seen[id] = true
		g.Expect(label.MatchString(id)).To(BeTrue(), id)
		g.Expect(texts).NotTo(ContainElement(MatchRegexp(`^\s*$`)), id)
		g.Expect(operations).To(HaveLen(len(slices.Compact(slices.Sorted(slices.Values(operations))))), id)
		for _, operation := range operations {
			_, known := FindOperation(operation)
			g.Expect(known).To(BeTrue(), "%s: %s", id, operation)
		}
	}
	for _, r := range Requirements() {
		entry(r.ID, r.Operations, r.Statement, r.Section, r.Method, string(r.Group), string(r.Profile))
		g.Expect(r.Operations).NotTo(BeEmpty(), r.ID)
		g.Expect(r.Level).To(BeElementOf(stated, derived))
		g.Expect(r.Level == derived).To(Equal(r.Reasoning != ""), "%s: a derived requirement gives its reasoning", r.ID)
		g.Expect(r.Profile).NotTo(Equal(ProfileFull))
		groups[r.Group], profiles[r.Profile] = true, true
		g.Expect(Quotes(r)).NotTo(BeEmpty(), "%s quotes nothing (add an entry to quoted)", r.ID)
		g.Expect(Quotes(r)).To(HaveEach(And(HaveField("Section", Not(BeEmpty())), HaveField("Text", Not(BeEmpty())))), r.ID)
	}
	g.Expect(len(groups)).To(Equal(len(Groups())))
	g.Expect(len(profiles)).To(Equal(len(Profiles())))
	for _, s := range OpenPoints() {
		entry(s.ID, s.Operations, s.Statement, s.Section)
	}
	for prefix, texts := range quoted {
		for _, text := range texts {
			g.Expect(strings.Contains(specification, text)).To(BeTrue(), "%s: the specification does not say %q", prefix, text)
			g.Expect(quote(text).Section).NotTo(BeEmpty(), text)
		}
	}
	for _, p := range Pairs() {
		g.Expect(Has(p)).To(BeTrue())
	}
	g.Expect(Has(Pair{"PAGE-ORDER", ListDFYOrders})).To(BeFalse(), "orders show no id: their order by id cannot be judged")
}

// The row of a field is its own, also if other tables have a field of the name.
func TestQuotedRows(t *testing.T) {
	for id, want := range map[string]Quote{
		"SHAPE-CAMPAIGN-NAME-TYPE":                                        {"Resources and their fields / Campaign", "name | string |"},
		"SHAPE-CAMPAIGN-CAMPAIGN_SCHEDULE.SCHEDULES.ITEM.TIMING.TO-TYPE":  {"Resources and their fields / Campaign", "timing | object `{from, to}` | both required"},
		"SHAPE-CAMPAIGN-SEQUENCES.ITEM.STEPS-PRESENT":                     {"Resources and their fields / Sequence (used by campaigns and subsequences)", "`sequences` is an array"},
		"SHAPE-SUBSEQUENCE-SEQUENCES.ITEM.STEPS.ITEM.DELAY-TYPE":          {"Resources and their fields / Sequence (used by campaigns and subsequences)", "delay | number | yes"},
		"SHAPE-SUBSEQUENCE-SUBSEQUENCE_SCHEDULE.SCHEDULES.ITEM.NAME-TYPE": {"Resources and their fields / Campaign subsequence", "subsequence_schedule | object"},
		"SHAPE-LEAD-PHONE-TYPE":                                           {"Resources and their fields / Lead", "first_name, last_name, company_name, job_title, phone | string |"},
		"REQUEST-INVALID-DELIVERY_MODE":                                   {"Resources and their fields / Inbox placement test", "delivery_mode | number or null |"},
		"STATE-READ_ONLY-ID":                                              {"Resources and their fields / Inbox placement test", "id | string uuid | read-only"},
		"PAGE-WALK-ONCE":                                                  {"Endpoints / Pagination (list endpoints)", "Results are sorted by id, which is time-ordered."},
		"AUTH-KEY-REVOKED":                                                {"Authentication", "3. When the Authorization header"},
		"SHAPE-ACCOUNT_MOVE-STATUS-VALUE":                                 {"Endpoints / Accounts", "200: `{status: \"success\"}`"},
		"SHAPE-LEAD-ID-VALUE":                                             {"Resources and their fields", "Identifiers (`id`"},
	} {
		r, ok := FindRequirement(id)
		NewWithT(t).Expect(ok).To(BeTrue(), id)
		NewWithT(t).Expect(Quotes(r)).To(ContainElement(And(HaveField("Section", want.Section), HaveField("Text", HavePrefix(want.Text)))), id)
	}
}

func TestOperations(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Operations()).To(HaveLen(18), "the specification gives 18 a shape")
	actions := map[string]string{"GET": "read", "DELETE": "delete"}
	for _, op := range Operations() {
		if want, ok := actions[op.Method]; ok {
			g.Expect(op.Scope.Action).To(Equal(want), op.ID)
		}
		g.Expect(op.Scope.Alternatives()).To(HaveLen(map[bool]int{false: 4}[op.ID == MoveAccounts]), op.ID)
		id := ""
		if op.HasPathID() {
			id = "a%b"
		}
		got, gotID, ok := MatchOperation(op.Method, strings.Replace(op.Path, "{id}", id, 1))
		g.Expect([]any{got.ID, gotID, ok}).To(Equal([]any{op.ID, id, true}))
	}
	for _, c := range []struct{ method, path, want string }{
		{"POST", "/api/v2/campaigns//variables", AddCampaignVariables}, // an empty id
		{"POST", "/api/v2/campaigns/variables", ""},                    // no id
		{"POST", "/api/v2/campaigns/a/b/variables", ""},
		{"PUT", "/api/v2/lead-lists", ""}, {"GET", "/api/v2/lead-lists/", ""}, {"GET", OptionsPath, ""}, {"GET", "", ""},
	} {
		got, id, ok := MatchOperation(c.method, c.path)
		g.Expect([]any{got.ID, id, ok}).To(Equal([]any{c.want, "", c.want != ""}), "%s %s", c.method, c.path)
	}
	get := MustOperation(GetPlacementTest)
	g.Expect(get.URLPath("a/b?c d")).To(Equal("/api/v2/inbox-placement-tests/a%2Fb%3Fc%20d"))
	g.Expect(get.URLPath("{id}")).To(Equal("/api/v2/inbox-placement-tests/%7Bid%7D"))
	g.Expect(MustOperation(ListPlacementTests).URLPath("0198")).To(Equal("/api/v2/inbox-placement-tests"))
}

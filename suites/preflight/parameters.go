package preflight

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
)

// alternatives are other names that servers use.
var alternatives = map[string][]string{
	profile.ParamSearch:            {"q", "query"},
	profile.ParamTest:              {"inbox_placement_test_id", "placement_test_id"},
	profile.ParamWindowStart:       {"date_from", "from", "start_date", "from_date", "start"},
	profile.ParamWindowEnd:         {"date_to", "to", "end_date", "to_date", "end"},
	profile.ParamParentCampaign:    {"parent_campaign_id", "campaign_id", "campaign"},
	profile.ParamParentCampaignNot: {"exclude_campaign", "exclude_campaign_id", "exclude_parent_campaign"},
	profile.ParamResourceIDs:       {"resource_id", "ids"},
	profile.ParamStartingAfter:     {"after", "cursor"},
	profile.ParamAccepted:          {"is_accepted"},
	profile.ParamInterestStatus:    {"interest_status_label", "interest"},
	profile.ParamHasEnrichmentTask: {"enrichment_task"},
}

// telling returns values of a parameter, of which at least one shows another page than
// plain if the server heeds the parameter; none if the page cannot tell.
func telling(op spec.Operation, meaning string, plain answer) []string {
	if len(plain.Rows) == 0 {
		return nil
	}
	if meaning == profile.ParamStartingAfter {
		return known(plain.Cursor)
	}
	f := op.Filter(meaning)
	const late, early = "2999-12-31", "1971-01-01"
	switch f.Kind {
	case "":
		return nil
	case spec.Omit:
		if slices.ContainsFunc(plain.Rows, func(row paging.Row) bool { return row.Value[f.Fields[0]] != nil }) {
			return []string{"true"}
		}
		return nil
	case spec.Search, spec.ExactSearch:
		return []string{"conformance-" + uuid.NewString()}
	case spec.Exclude:
		return known(text(plain.Rows[0], f.Fields[0]))
	case spec.From:
		return []string{late + midnight}
	case spec.FromDay:
		return []string{late}
	case spec.Until:
		return []string{early + midnight}
	case spec.UntilDay:
		return []string{early}
	}
	if f.Values != nil {
		return f.Values
	}
	return []string{uuid.NewString()}
}

// midnight follows a day in a timestamp.
const midnight = "T00:00:00.000Z"

// known returns the value; none if it is empty.
func known(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

// heeds reports whether the parameter changes the page, or whether the server surely
// ignores the name, as most servers do with unknown ones.
func (a *asker) heeds(op spec.Operation, key profile.Key, plain answer, meaning, name string) (heeded, ignored bool) {
	values := telling(op, meaning, plain)
	ignored = len(values) > 0
	for _, value := range values {
		got := a.list(op, key, url.Values{name: {value}})
		switch {
		case got.err != nil:
			ignored = false
		case !same(plain, got):
			return true, false
		}
	}
	return false, ignored
}

// parameters reports the names of the profile that the target ignores.
func (a *asker) parameters() {
	key, ok := a.anyKey()
	if !ok {
		return
	}
	lists := a.lists()
	ignored := make([][]string, len(lists))
	var asking errgroup.Group
	for i, op := range lists {
		asking.Go(func() error {
			names := a.profile.Parameters[op.ID]
			if len(names) == 0 {
				return nil
			}
			plain := a.list(op, key, nil)
			for _, meaning := range profile.Params(op.ID) {
				if name := names[meaning]; name != "" {
					if _, ignores := a.heeds(op, key, plain, meaning, name); ignores {
						ignored[i] = append(ignored[i], fmt.Sprintf("%s (%s of %s)", name, meaning, op.ID))
					}
				}
			}
			return nil
		})
	}
	_ = asking.Wait() // no list returns an error
	if all := slices.Concat(ignored...); len(all) > 0 {
		a.Operations = append(a.Operations, Finding{What: "parameters", Wrong: true,
			Says: "the target ignores " + strings.Join(all, ", ") + ": correct the names under `parameters`, or heed them"})
	}
}

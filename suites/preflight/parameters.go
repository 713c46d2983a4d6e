package preflight

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"outreach.example/conformance/fixtures/profile"
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
	if plain.status != http.StatusOK || len(plain.rows) == 0 {
		return nil
	}
	shown := func(field string) []string {
		if slices.ContainsFunc(plain.rows, func(row map[string]any) bool { return row[field] != nil }) {
			return []string{"true"}
		}
		return nil
	}
	named := func(value string) []string {
		return slices.DeleteFunc([]string{value}, func(s string) bool { return s == "" })
	}
	switch meaning {
	case profile.ParamSearch:
		return []string{"conformance-" + uuid.NewString()}
	case profile.ParamTest, profile.ParamParentCampaign, profile.ParamResourceIDs:
		return []string{uuid.NewString()}
	case profile.ParamParentCampaignNot:
		return named(text(plain.rows[0], "parent_campaign"))
	case profile.ParamWindowStart:
		return []string{windowValue(op, "2999-12-31")}
	case profile.ParamWindowEnd:
		return []string{windowValue(op, "1971-01-01")}
	case profile.ParamStartingAfter:
		return named(plain.cursor)
	case profile.ParamInterestStatus:
		return []string{"positive", "negative"}
	case profile.ParamSkipSpamAssassin:
		return shown("spam_assassin_report")
	case profile.ParamSkipBlacklist:
		return shown("blacklist_report")
	default: // a boolean
		return []string{"true", "false"}
	}
}

// windowValue returns a day in the format of the operation's window: a date for
// webhook events, a timestamp for reports.
func windowValue(op spec.Operation, day string) string {
	if op.ID == spec.ListWebhookEvents {
		return day
	}
	return day + "T00:00:00.000Z"
}

// heeds reports whether the parameter changes the page, or whether the server surely
// ignores the name, as most servers do with unknown ones.
func (a *asker) heeds(op spec.Operation, key profile.Key, plain answer, meaning, name string) (heeded, ignored bool) {
	values := telling(op, meaning, plain)
	ignored = len(values) > 0
	for _, value := range values {
		got := a.list(op, key, url.Values{name: {value}})
		switch {
		case !got.shows():
			ignored = false
		case !same(plain, got):
			return true, false
		}
	}
	return false, ignored
}

// parameters reports the names of the profile that the target ignores.
func (a *asker) parameters(r *Report) {
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
		r.Operations = append(r.Operations, Finding{What: "parameters", Wrong: true,
			Says: "the target ignores " + strings.Join(all, ", ") + ": correct the names under `parameters`, or heed them"})
	}
}

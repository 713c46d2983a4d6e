package refserver

import (
	"errors"
	"slices"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/refserver/store"
)

// campaignAttrs holds what a campaign's document does not show.
type campaignAttrs struct {
	variables []string // in the order in which they were added, each once
}

func campaignRow(r dataset.Campaign) (store.Row[campaignAttrs], error) {
	return rowOf(r.ID, r, campaignAttrs{})
}

// addCampaignVariables remembers variables of a campaign. The Campaign shows no
// variables; the truth port does (GET /state).
func addCampaignVariables(c *call) error {
	id, err := c.uuid()
	if err != nil {
		return err
	}
	body, err := c.object()
	if err != nil {
		return err
	}
	variables := body.texts("variables", required, "the name of a variable", func(s string) (string, bool) { return s, s != "" })
	if body.err != nil {
		return body.err
	}
	row, err := c.ws.campaigns.Update(id, func(row store.Row[campaignAttrs]) (store.Row[campaignAttrs], error) {
		campaign, err := parse[dataset.Campaign](row.Doc)
		if err != nil {
			return row, err
		}
		campaign.Updated = stamp(c.server.now())
		known := slices.Clone(row.Attrs.variables)
		for _, name := range variables {
			if !slices.Contains(known, name) {
				known = append(known, name)
			}
		}
		return rowOf(row.ID, campaign, campaignAttrs{known})
	})
	if errors.Is(err, store.ErrNotFound) {
		return errNotFound
	}
	if err != nil {
		return err
	}
	return c.send(row.Doc)
}

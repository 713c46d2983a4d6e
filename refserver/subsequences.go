package refserver

import (
	"strings"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/refserver/store"
)

type subsequenceAttrs struct {
	campaign string
	name     string // in lower case
}

func subsequenceRow(r dataset.Subsequence) (store.Row[subsequenceAttrs], error) {
	return rowOf(r.ID, r, subsequenceAttrs{campaign: r.ParentCampaign, name: strings.ToLower(r.Name)})
}

// subsequences can be narrowed to those of a campaign, to those of all other
// campaigns, and to a part of the name, in any case.
var subsequences = listing[subsequenceAttrs]{
	rows:   func(ws *workspace) *store.List[subsequenceAttrs] { return ws.subsequences },
	cursor: byID[subsequenceAttrs](),
	filter: func(q *query) func(*subsequenceAttrs) bool {
		of, not, search := q.uuid("parent_campaign"), q.uuid("parent_campaign_not"), q.folded("search")
		if of == "" && not == "" && search == "" {
			return nil
		}
		return func(a *subsequenceAttrs) bool {
			return (of == "" || a.campaign == of) && (not == "" || a.campaign != not) && strings.Contains(a.name, search)
		}
	},
}

// deleteSubsequence leaves the leads in it as they are: the specification says
// nothing of them.
func deleteSubsequence(c *call) error {
	id, err := c.uuid()
	if err != nil {
		return err
	}
	if err := c.noBody(); err != nil {
		return err
	}
	row, ok := c.ws.subsequences.Delete(id)
	if !ok {
		return errNotFound
	}
	c.notify("subsequence.deleted", row.Doc, "")
	return c.send(row.Doc)
}

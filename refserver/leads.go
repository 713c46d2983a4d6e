package refserver

import (
	"errors"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/refserver/store"
)

func leadRow(r dataset.Lead) (store.Row[none], error) { return rowOf(r.ID, r, none{}) }

// moveLead moves a lead to a subsequence of the same workspace. Both ids are
// required. The subsequence may belong to another campaign than the lead: the
// specification asks for no more than that both exist.
func moveLead(c *call) error {
	body, err := c.object()
	if err != nil {
		return err
	}
	id, subsequence := or(body.uuid("id", required)), or(body.uuid("subsequence_id", required))
	if body.err != nil {
		return body.err
	}
	if _, ok := c.ws.subsequences.Get(subsequence); !ok {
		return errNotFound
	}
	var email string
	row, err := c.ws.leads.Update(id, func(row store.Row[none]) (store.Row[none], error) {
		lead, err := parse[dataset.Lead](row.Doc)
		if err != nil {
			return row, err
		}
		now := stamp(c.server.now())
		lead.SubsequenceID, lead.AddedSubsequence, lead.Updated = subsequence, now, now
		email = lead.Email
		return leadRow(lead)
	})
	if errors.Is(err, store.ErrNotFound) {
		return errNotFound
	}
	if err != nil {
		return err
	}
	c.notify("lead.moved_to_subsequence", row.Doc, email)
	return c.send(row.Doc)
}

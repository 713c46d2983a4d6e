package refserver

import (
	"strings"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/refserver/store"
)

type testAttrs struct {
	name   string // in lower case
	status int    // 0 for null
}

func testRow(r dataset.InboxPlacementTest) (store.Row[testAttrs], error) {
	return rowOf(r.ID, r, testAttrs{name: strings.ToLower(r.Name), status: or(r.Status)})
}

// placementTests can be searched by a part of the name, in any case.
var placementTests = listing[testAttrs]{
	rows:     func(ws *workspace) *store.List[testAttrs] { return ws.tests },
	cursor:   byID[testAttrs](),
	sortable: true,
	filter: func(q *query) func(*testAttrs) bool {
		search, status := q.folded("search"), q.integer("status", 1, 3, 0)
		if search == "" && status == 0 {
			return nil
		}
		return func(a *testAttrs) bool {
			return (status == 0 || a.status == status) && strings.Contains(a.name, search)
		}
	},
}

func createPlacementTest(c *call) error {
	body, err := c.object()
	if err != nil {
		return err
	}
	test := readPlacementTest(body)
	if body.err != nil {
		return body.err
	}
	if test.CampaignID != nil {
		if _, ok := c.ws.campaigns.Get(*test.CampaignID); !ok {
			return errNotFound
		}
	}
	id, at := c.server.ids.next()
	test.ID, test.OrganizationID, test.Created = id, c.ws.id, stamp(at)
	row, err := testRow(test)
	if err != nil {
		return err
	}
	c.ws.tests.Insert(row)
	c.notify("inbox_placement_test.created", row.Doc, "")
	return c.send(row.Doc)
}

func getPlacementTest(c *call) error {
	id, err := c.uuid()
	if err != nil {
		return err
	}
	q := newQuery(c.r.URL)
	withMetadata, _ := q.boolean("with_metadata")
	if q.err != nil {
		return q.err
	}
	row, ok := c.ws.tests.Get(id)
	if !ok {
		return errNotFound
	}
	if !withMetadata {
		return c.send(row.Doc)
	}
	doc, err := c.withMetadata(row.Doc)
	if err != nil {
		return err
	}
	return c.send(doc)
}

// withMetadata adds the details of the campaign and the tags of a test.
func (c *call) withMetadata(doc []byte) ([]byte, error) {
	type named struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}
	type tag struct {
		ID string `json:"id"`
	}
	type metadata struct {
		Campaign *named `json:"campaign"`
		Tags     []tag  `json:"tags"`
	}
	test, err := parse[dataset.InboxPlacementTest](doc)
	if err != nil {
		return nil, err
	}
	m := metadata{Tags: []tag{}}
	for _, id := range test.Tags {
		m.Tags = append(m.Tags, tag{id})
	}
	if test.CampaignID != nil {
		if row, ok := c.ws.campaigns.Get(*test.CampaignID); ok {
			campaign, err := parse[dataset.Campaign](row.Doc)
			if err != nil {
				return nil, err
			}
			m.Campaign = &named{campaign.ID, campaign.Name}
		}
	}
	return render(struct {
		dataset.InboxPlacementTest
		Metadata metadata `json:"metadata"`
	}{test, m})
}

func deletePlacementTest(c *call) error {
	id, err := c.uuid()
	if err != nil {
		return err
	}
	if err := c.noBody(); err != nil {
		return err
	}
	row, ok := c.ws.tests.Delete(id)
	if !ok {
		return errNotFound
	}
	c.notify("inbox_placement_test.deleted", row.Doc, "")
	return c.send(row.Doc)
}

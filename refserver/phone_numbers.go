package refserver

import (
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/refserver/store"
)

func phoneNumberRow(r dataset.PhoneNumber) (store.Row[none], error) { return rowOf(r.ID, r, none{}) }

// listPhoneNumbers answers all phone numbers in a plain array.
func listPhoneNumbers(c *call) error {
	all := []byte{'['}
	snapshot := c.ws.phoneNumbers.Snapshot()
	for row := range snapshot.Ascend(snapshot.Start()) {
		if len(all) > 1 {
			all = append(all, ',')
		}
		all = append(all, row.Doc...)
	}
	return c.send(append(all, ']'))
}

package testbed

import (
	"testing"

	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/client"
)

// Client returns a client of the target.
func Client(t testing.TB, of *target.Target) *client.Client {
	t.Helper()
	api, err := of.Client(client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(api.Close)
	return api
}

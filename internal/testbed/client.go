package testbed

import (
	"testing"

	"outreach.example/conformance/internal/client"
)

// Client returns a client of a target.
func Client(t testing.TB, target interface {
	Client(client.Options) (*client.Client, error)
}) *client.Client {
	t.Helper()
	api, err := target.Client(client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(api.Close)
	return api
}

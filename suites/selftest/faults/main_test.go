package faults

import (
	"os"
	"testing"

	"outreach.example/conformance/internal/testbed"
)

func TestMain(m *testing.M) {
	testbed.PartOfChecks()
	os.Exit(m.Run())
}

package client_test

import (
	"testing"

	"outreach.example/conformance/internal/testbed"
)

// The tests must not reach their servers through a proxy of the machine.
func TestMain(m *testing.M) { testbed.Main(m, nil) }

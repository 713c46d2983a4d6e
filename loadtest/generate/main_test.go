package generate

import (
	"testing"

	"outreach.example/conformance/internal/testbed"
)

// roles are what the test binary does in a process of its own.
var roles = testbed.Roles{}

func TestMain(m *testing.M) { testbed.Main(m, roles) }

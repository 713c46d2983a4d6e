package generate

import (
	"bytes"
	"os"
	"strconv"
	"testing"

	"outreach.example/conformance/internal/testbed"
)

// The test binary runs itself in the roles that need a process of their own.
const (
	nullFlag     = "null-server"       // size of the body
	pageFlag     = "page-server"       // file with the body
	checkingFlag = "checking-client"   // address, rate
	vegetaFlag   = "raw-vegeta-client" // address, rate
)

var roles = testbed.Roles{
	nullFlag: func(args []string) error {
		size, err := strconv.Atoi(args[0])
		if err != nil {
			return err
		}
		return NullServer(bytes.Repeat([]byte("x"), size), os.Stdout, os.Stdin)
	},
	pageFlag: func(args []string) error {
		page, err := os.ReadFile(args[0])
		if err != nil {
			return err
		}
		return NullServer(page, os.Stdout, os.Stdin)
	},
	checkingFlag: func(args []string) error { return clientProcess(checkingClient, args) },
	vegetaFlag:   func(args []string) error { return clientProcess(rawVegetaClient, args) },
}

func TestMain(m *testing.M) { testbed.Main(m, roles) }

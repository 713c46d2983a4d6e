package generate

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"testing"
)

// The test binary runs itself for what must not share its process.
const (
	nullFlag     = "null-server"       // size of the body
	pageFlag     = "page-server"       // file with the body
	checkingFlag = "checking-client"   // address, rate
	vegetaFlag   = "raw-vegeta-client" // address, rate
)

func TestMain(m *testing.M) {
	if len(os.Args) < 2 {
		os.Exit(m.Run())
	}
	var err error
	switch args := os.Args[2:]; os.Args[1] {
	case nullFlag:
		var size int
		if size, err = strconv.Atoi(args[0]); err == nil {
			err = NullServer(bytes.Repeat([]byte("x"), size), os.Stdout, os.Stdin)
		}
	case pageFlag:
		var page []byte
		if page, err = os.ReadFile(args[0]); err == nil {
			err = NullServer(page, os.Stdout, os.Stdin)
		}
	case checkingFlag:
		err = clientProcess(checkingClient, args)
	case vegetaFlag:
		err = clientProcess(rawVegetaClient, args)
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// again is the command that runs the test binary once more.
func again(t testing.TB, args ...string) []string {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return append([]string{self}, args...)
}

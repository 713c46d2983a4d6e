package loadtest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/refserver/limiter"
	"outreach.example/conformance/fixtures/refserver/shape"
	"outreach.example/conformance/fixtures/refserver/truth"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/measure"
)

// The test binary runs itself for what must not share a process with the generator.
const (
	nullServer      = "null-server"      // size of the body
	referenceServer = "reference-server" // limit of the workspace main, shape
)

func TestMain(m *testing.M) {
	testbed.Main(m, testbed.Roles{
		nullServer: func(args []string) error {
			size, err := strconv.Atoi(args[0])
			if err != nil {
				return err
			}
			return generate.NullServer(bytes.Repeat([]byte("x"), size), os.Stdout, os.Stdin)
		},
		referenceServer: func(args []string) error {
			server, err := start(args[0], args[1])
			if err == nil {
				fmt.Println(server.BaseURL, server.TruthURL)
				_, err = io.Copy(io.Discard, os.Stdin) // its end is that of the parent
			}
			return err
		},
	})
}

// calibrated stands in for the measurement of the generator, which takes seconds
// of every core.
func calibrated(context.Context, generate.CalibrationOptions) (measure.Calibration, error) {
	return measure.Calibration{Ceiling: 10_000, Rate: 5000}, nil
}

// start starts a reference server that limits the workspace main.
func start(limit, shaped string) (*target.Target, error) {
	config, err := shape.Parse(shaped)
	if err != nil {
		return nil, err
	}
	around, err := shape.New(config, 1)
	if err != nil {
		return nil, err
	}
	limits, err := limiter.Parse(limit)
	if err != nil {
		return nil, err
	}
	return target.Embedded(context.Background(), dataset.DefaultOptions(), refserver.Options{
		Limiters:   map[string]limiter.Config{dataset.Main: limits},
		Middleware: []func(http.Handler) http.Handler{around.Middleware},
	})
}

// served is a reference server that is known by its address, as one that somebody else runs.
// With -truth it has a process of its own, so that it does not disturb the generator.
func served(t testing.TB, limit, shaped string) *target.Target {
	t.Helper()
	base, truthURL := "", ""
	if *full {
		command := testbed.Again(t, referenceServer, limit, shaped)
		child := exec.Command(command[0], command[1:]...)
		stdin, inErr := child.StdinPipe()
		stdout, outErr := child.StdoutPipe()
		if err := errors.Join(inErr, outErr, child.Start()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := errors.Join(stdin.Close(), child.Wait()); err != nil {
				t.Errorf("the reference server: %v", err)
			}
		})
		if _, err := fmt.Fscanln(stdout, &base, &truthURL); err != nil {
			t.Fatal(err)
		}
	} else {
		server, err := start(limit, shaped)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = server.Close(context.Background()) })
		base, truthURL = server.BaseURL, server.TruthURL
	}
	found, err := target.URL(profile.Embedded(), base)
	if err != nil {
		t.Fatal(err)
	}
	found.TruthURL = truthURL
	return found
}

// within is the server for a run that waits so long for a response; 0 is as long as usual.
func within(t testing.TB, timeout time.Duration, server *target.Target) *target.Target {
	t.Helper()
	if timeout == 0 {
		return server
	}
	impatient := *server.Profile
	impatient.Pace.Timeout = timeout
	found, err := target.URL(&impatient, server.BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	found.TruthURL = server.TruthURL
	return found
}

// truthOf asks the server what it did.
func truthOf(t testing.TB, server *target.Target) truth.Report {
	t.Helper()
	return testbed.Record(t, server.TruthURL)
}

// forget empties the server's record once all that was sent is in it.
func forget(t testing.TB, server *target.Target) {
	t.Helper()
	testbed.Record(t, server.TruthURL)
	answer, err := http.Post(server.TruthURL+"/truth/reset", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
}

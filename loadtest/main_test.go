package loadtest_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
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
		referenceServer: func(args []string) error { return serve(args[0], args[1]) },
		burn: func([]string) error {
			var spins atomic.Uint64
			go func() {
				for { // takes a core until its standard input ends
					spins.Add(1)
				}
			}()
			_, err := io.Copy(io.Discard, os.Stdin)
			return err
		},
	})
}

// calibrated stands in for the measurement of the generator, which takes seconds
// of every core.
func calibrated(context.Context, generate.CalibrationOptions) (measure.Calibration, error) {
	return measure.Calibration{Ceiling: 10_000, Rate: 5000}, nil
}

// serve runs a reference server until its standard input ends. It says in a line
// where it and its truth are.
func serve(limit, shaped string) error {
	config, err := shape.Parse(shaped)
	if err != nil {
		return err
	}
	around, err := shape.New(config, 1)
	if err != nil {
		return err
	}
	limits, err := limiter.Parse(limit)
	if err != nil {
		return err
	}
	server, err := target.Embedded(context.Background(), dataset.DefaultOptions(), refserver.Options{
		Limiters:   map[string]limiter.Config{dataset.Main: limits},
		Middleware: []func(http.Handler) http.Handler{around.Middleware},
	})
	if err != nil {
		return err
	}
	fmt.Println(server.BaseURL, server.TruthURL)
	_, _ = io.Copy(io.Discard, os.Stdin) // its end is that of the parent
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return server.Close(ctx)
}

// served is a reference server in a process of its own, known by its address as
// a server is that somebody else runs.
func served(t testing.TB, limit, shaped string) *target.Target {
	t.Helper()
	command := testbed.Again(t, referenceServer, limit, shaped)
	child := exec.Command(command[0], command[1:]...)
	child.Stderr = os.Stderr
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(stdin.Close(), child.Wait()); err != nil {
			t.Errorf("the reference server: %v", err)
		}
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	base, truthURL, _ := strings.Cut(strings.TrimSpace(line), " ")
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

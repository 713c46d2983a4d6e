package main

import (
	"context"
	"encoding/xml"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/onsi/ginkgo/v2/reporters"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/xeipuuv/gojsonschema"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/jsonfile"
)

// program is the name by which scripts call the program: this test binary.
const program = testbed.Program

func TestMain(m *testing.M) {
	testscript.Main(testbed.Tidying{Tests: m}, map[string]func(){
		program: func() {
			calibrate = calibrations[os.Getenv(calibrationVariable)]
			main()
		},
	})
}

// calibrationVariable says how the program of the tests measures the generator.
const (
	calibrationVariable = "CALIBRATION"
	endless             = "endless"
	measured            = "measured"
)

// instant is a calibration that takes no time.
func instant(context.Context, generate.CalibrationOptions) (measure.Calibration, error) {
	return measure.Calibration{Ceiling: 10_000, Rate: 5000, CPU: 100 * time.Microsecond}, nil
}

var calibrations = map[string]func(context.Context, generate.CalibrationOptions) (measure.Calibration, error){
	"": instant,
	endless: func(ctx context.Context, options generate.CalibrationOptions) (c measure.Calibration, err error) {
		for err == nil {
			c, err = generate.Calibrate(ctx, options)
		}
		return c, err
	},
	measured: generate.Calibrate,
}

// TestScripts runs testdata/*.txtar. Beside testscript's own commands they have:
//
//	exits CODE COMMAND…           the command ends with just that exit code; the program
//	                              runs in this process
//	start NAME PATTERN COMMAND…   starts the command and waits until a line of
//	                              its output matches; $NAME is the last group, and
//	                              a named group sets the variable of its name; serve
//	                              runs in this process
//	interrupt NAME CODE           interrupts what was started; it must end
//	                              with that code; its output is in NAME.log
//	results FILE VERDICT          the file is valid against the results' JSON
//	                              Schema and has that verdict
//	complete FILE                 the file's checks are all assessed. A machine that
//	                              is too slow to exceed the rate limit within a
//	                              period excuses the checks of that. With ! another
//	                              check is not assessed
//	junit FILE CASES TEXT         the JUnit file has so many test cases, and "run" is an
//	                              error with that text in its title
//	profile FILE RATE             writes the reference server's profile with a
//	                              pace of RATE requests a second
//	defective NAME ID             serves what $URL does, with the defect; $NAME is
//	                              its address
//	partial NAME FORM ORDER OPERATION…
//	                              serves of $URL just these operations; FORM is the
//	                              answer for the others (package testbed); ORDER is
//	                              route-first or authorization-first
//
// $DOCUMENT is the file of the OpenAPI document.
func TestScripts(t *testing.T) { runScripts(t, scripts) }

func TestScripts_long(t *testing.T) { runScripts(t, filepath.Join(scripts, "long")) }

func runScripts(t *testing.T, dir string) {
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv(testbed.RaceVariable, testbed.RaceOptions)
			env.Setenv("DOCUMENT", filepath.Join(repository, "schemas", "openapi.yaml"))
			env.Values[scriptKey{}] = &script{vars: env.Vars, running: map[string]*process{}}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     exits,
			"start":     start,
			"interrupt": interrupt,
			"results":   results,
			"complete":  complete,
			"junit":     unjudgedJUnit,
			"profile":   writeProfile,
			"defective": defective,
			"partial":   partial,
		},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	want, got := exitCode(ts, args[0]), 0
	if args[1] == program {
		enter(ts)
		got = execute(context.Background(), args[2:], ts.Stdout(), ts.Stderr())
		leave()
	} else if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d instead of %d", got, want)
	}
}

func exitCode(ts *testscript.TestScript, text string) int {
	code, err := strconv.Atoi(text)
	ts.Check(err)
	return code
}

func results(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: results FILE VERDICT")
	}
	text := ts.ReadFile(args[0])
	judged, err := gojsonschema.Validate(gojsonschema.NewBytesLoader(reports.Schema()), gojsonschema.NewStringLoader(text))
	ts.Check(err)
	if !judged.Valid() {
		ts.Fatalf("%s is not valid against the schema: %v", args[0], judged.Errors())
	}
	r, err := jsonfile.Run.Read(ts.MkAbs(args[0]))
	ts.Check(err)
	if string(r.Verdict) != args[1] {
		ts.Fatalf("%s has the verdict %s instead of %s: %s", args[0], r.Verdict, args[1], strings.Join(r.Reasons, "; "))
	}
}

func complete(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] complete FILE")
	}
	r, err := jsonfile.Run.Read(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(r.Checks) == 0 {
		ts.Fatalf("%s has no checks", args[0])
	}
	left := slices.IndexFunc(r.Checks, func(c reports.Check) bool { return c.Outcome == reports.NotAssessed && !dependsOnSpeed(c) })
	switch {
	case neg && left < 0:
		ts.Fatalf("%s: all checks are assessed", args[0])
	case !neg && left >= 0:
		c := r.Checks[left]
		ts.Fatalf("%s: %s on %s is not assessed: %s", args[0], c.Requirement, c.Operation, strings.Join(c.Missing, "; "))
	}
}

// dependsOnSpeed reports whether only a machine that is quick enough assesses the check:
// one that exceeds a rate limit before the limit's period ends.
func dependsOnSpeed(c reports.Check) bool {
	if len(c.Missing) == 0 {
		return false
	}
	for _, missing := range c.Missing {
		if !strings.Contains(missing, "quick enough to exceed") && !strings.Contains(missing, "counts this operation together with lists") {
			return false
		}
	}
	return true
}

func unjudgedJUnit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: junit FILE CASES TEXT")
	}
	var suites reporters.JUnitTestSuites
	ts.Check(xml.Unmarshal([]byte(ts.ReadFile(args[0])), &suites))
	cases := suites.TestSuites[0].TestCases
	if want := exitCode(ts, args[1]); len(cases) != want {
		ts.Fatalf("%d test cases instead of %d", len(cases), want)
	}
	if run := cases[0]; run.Name != "run" || run.Error == nil || !strings.Contains(run.Error.Message, args[2]) {
		ts.Fatalf("the first test case is %+v", run)
	}
}

func writeProfile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: profile FILE RATE")
	}
	p := profile.Embedded()
	rate, err := strconv.ParseFloat(args[1], 64)
	ts.Check(err)
	p.Pace.RequestsPerSecond = rate
	text, err := p.YAML("")
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), text, 0o600))
}

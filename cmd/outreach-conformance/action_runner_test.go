package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// actionFile is the part of action.yml that tests read.
type actionFile struct {
	Inputs map[string]struct {
		Default string `yaml:"default"`
	} `yaml:"inputs"`
	Runs struct {
		Steps []actionStep `yaml:"steps"`
	} `yaml:"runs"`
}

type actionStep struct {
	ID    string            `yaml:"id"`
	If    string            `yaml:"if"`
	Uses  string            `yaml:"uses"`
	With  map[string]any    `yaml:"with"`
	Shell string            `yaml:"shell"`
	Env   map[string]string `yaml:"env"`
	Run   string            `yaml:"run"`
}

var (
	expression = regexp.MustCompile(`\$\{\{ ([^}]*) \}\}`)
	inputName  = regexp.MustCompile(`inputs\.([a-z-]+)`)
)

// actionRunner stands in for a GitHub runner: it evaluates expressions and conditions,
// and runs the scripts of action.yml with the variables and files of a runner. Actions
// of others do not run.
type actionRunner struct {
	ts     *testscript.TestScript
	values map[string]string // by context, for example inputs.args
	failed bool
	code   int
}

// action runs the steps of action.yml. A \n in a value is a line break. The caches hold
// $HARNESS, or nothing if $CACHE is miss. Used.txt records the actions of others, and
// log.txt what all steps printed.
func action(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: action CODE INPUT=VALUE…")
	}
	var file actionFile
	ts.Check(readYAML("action.yml", &file))
	r := &actionRunner{ts: ts, values: map[string]string{"strategy.job-index": "3", "github.action_repository": "owner/harness"}}
	for name, input := range file.Inputs {
		r.values["inputs."+name] = input.Default
	}
	for _, given := range args[1:] {
		name, value, _ := strings.Cut(given, "=")
		if _, known := file.Inputs[name]; !known {
			ts.Fatalf("action.yml has no input %s", name)
		}
		r.values["inputs."+name] = strings.ReplaceAll(value, `\n`, "\n")
	}
	if ts.Getenv("HARNESS") == "" {
		ts.Setenv("HARNESS", filepath.Join("bin", program))
	}
	temporary := ts.MkAbs("runner temp") // paths of a runner may have spaces
	ts.Check(os.RemoveAll(temporary))
	ts.Check(os.MkdirAll(temporary, 0o755))
	source, err := filepath.Abs(repository)
	ts.Check(err)
	for name, value := range map[string]string{
		"RUNNER_TEMP": temporary, "RUNNER_OS": "Linux", "RUNNER_ARCH": "X64", "GITHUB_JOB": "conformance",
		"GITHUB_ACTION_PATH": source, "GITHUB_STEP_SUMMARY": ts.MkAbs("summary.md"), "GITHUB_ACTIONS": "true",
		"GITHUB_SERVER_URL": "https://github.example", "GITHUB_REPOSITORY": "caller/server",
	} {
		ts.Setenv(name, value)
	}
	ts.Check(os.RemoveAll(ts.MkAbs("summary.md")))
	ts.Check(os.RemoveAll(ts.MkAbs("outputs.txt")))
	ts.Check(os.RemoveAll(ts.MkAbs("used.txt")))
	ts.Check(os.RemoveAll(ts.MkAbs("log.txt")))
	for _, step := range file.Runs.Steps {
		r.step(step)
	}
	if want := exitCode(ts, args[0]); r.code != want {
		ts.Fatalf("the action ended with exit code %d instead of %d", r.code, want)
	}
}

// releases serves the directory, as the address below which releases are. $NAME is the
// address.
func releases(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: releases NAME DIRECTORY")
	}
	server := httptest.NewServer(http.FileServer(http.Dir(ts.MkAbs(args[1]))))
	ts.Defer(server.Close)
	ts.Setenv(args[0], server.URL)
}

// step runs a step if its condition holds.
func (r *actionRunner) step(step actionStep) {
	if !r.holds(step.If) {
		return
	}
	if name, _, _ := strings.Cut(step.Uses, "@"); name != "" {
		r.other(step, name)
		return
	}
	outputs := r.ts.MkAbs("outputs.txt")
	for name, value := range step.Env {
		r.ts.Setenv(name, r.evaluated(value))
	}
	r.ts.Setenv("GITHUB_OUTPUT", outputs)
	err := r.ts.Exec("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run)
	r.appendTo("log.txt", r.ts.ReadFile("stdout"))
	for name := range step.Env {
		r.ts.Setenv(name, "")
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		r.failed, r.code = true, exit.ExitCode()
	} else {
		r.ts.Check(err)
	}
	text, err := os.ReadFile(outputs)
	if err != nil {
		return // the step wrote no output
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		r.values["steps."+step.ID+".outputs."+name] = value
	}
}

// other stands in for an action of others.
func (r *actionRunner) other(step actionStep, name string) {
	with := map[string]string{}
	for name, value := range step.With {
		with[name] = r.evaluated(fmt.Sprint(value))
	}
	r.appendTo("used.txt", fmt.Sprintln(name, with))
	if name != "actions/cache/restore" {
		return
	}
	r.ts.Check(os.RemoveAll(with["path"]))
	if r.ts.Getenv("CACHE") == "miss" {
		return
	}
	r.ts.Check(os.MkdirAll(with["path"], 0o755))
	r.ts.Check(os.Symlink(r.ts.MkAbs(r.ts.Getenv("HARNESS")), filepath.Join(with["path"], program)))
	r.values["steps."+step.ID+".outputs.cache-hit"] = "true"
}

// appendTo adds text to a file of the script.
func (r *actionRunner) appendTo(name, text string) {
	file, err := os.OpenFile(r.ts.MkAbs(name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	r.ts.Check(err)
	_, err = file.WriteString(text)
	r.ts.Check(errors.Join(err, file.Close()))
}

// evaluated replaces the expressions in a text.
func (r *actionRunner) evaluated(text string) string {
	return expression.ReplaceAllStringFunc(text, func(e string) string {
		return r.value(expression.FindStringSubmatch(e)[1])
	})
}

// value returns the value of a name or of a literal. An unknown output is empty, as on
// a runner.
func (r *actionRunner) value(name string) string {
	if literal, ok := strings.CutPrefix(name, "'"); ok {
		return strings.TrimSuffix(literal, "'")
	}
	value, known := r.values[name]
	if !known && !strings.HasPrefix(name, "steps.") {
		r.ts.Fatalf("the stand-in does not know %s", name)
	}
	return value
}

// holds reports whether a condition is true: comparisons joined by &&.
func (r *actionRunner) holds(condition string) bool {
	if !strings.Contains(condition, "always()") && r.failed {
		return false
	}
	for part := range strings.SplitSeq(condition, " && ") {
		left, right, equal := strings.Cut(part, " == ")
		if !equal {
			var unequal bool
			if left, right, unequal = strings.Cut(part, " != "); !unequal {
				continue // empty or always()
			}
		}
		if (r.value(left) == r.value(right)) != equal {
			return false
		}
	}
	return true
}

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/pflag"

	"outreach.example/conformance/internal/envvar"
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
	Shell string            `yaml:"shell"`
	Env   map[string]string `yaml:"env"`
	Run   string            `yaml:"run"`
}

// gitlabJob is the part of a job in docs/gitlab-ci.yml that tests read.
type gitlabJob struct {
	Extends   string            `yaml:"extends"`
	Variables map[string]string `yaml:"variables"`
	Script    []string          `yaml:"script"`
	Artifacts struct {
		When    string            `yaml:"when"`
		Paths   []string          `yaml:"paths"`
		Reports map[string]string `yaml:"reports"`
	} `yaml:"artifacts"`
}

// readYAML reads a YAML file of the repository.
func readYAML(path string, into any) error {
	text, err := os.ReadFile(filepath.Join(repository, path))
	if err != nil {
		return err
	}
	return yaml.Unmarshal(text, into)
}

var inputExpression = regexp.MustCompile(`\$\{\{ inputs\.([a-z-]+) \}\}`)

// action runs a step of action.yml as a GitHub runner does: with bash, the step's
// environment, and files for its outputs and summary. A \n in a value is a line break.
func action(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: action STEP CODE INPUT=VALUE…")
	}
	var file actionFile
	ts.Check(readYAML("action.yml", &file))
	i := slices.IndexFunc(file.Runs.Steps, func(s actionStep) bool { return s.ID == args[0] })
	if i < 0 {
		ts.Fatalf("action.yml has no step %s", args[0])
	}
	step := file.Runs.Steps[i]
	inputs := map[string]string{}
	for name, input := range file.Inputs {
		inputs[name] = input.Default
	}
	for _, given := range args[2:] {
		name, value, _ := strings.Cut(given, "=")
		if _, known := inputs[name]; !known {
			ts.Fatalf("action.yml has no input %s", name)
		}
		inputs[name] = strings.ReplaceAll(value, `\n`, "\n")
	}
	for name, value := range step.Env {
		ts.Setenv(name, inputExpression.ReplaceAllStringFunc(value, func(e string) string {
			return inputs[inputExpression.FindStringSubmatch(e)[1]]
		}))
	}
	ts.Setenv("RUNNER_TEMP", ts.MkAbs("bin"))
	ts.Setenv("GITHUB_OUTPUT", ts.MkAbs("outputs.txt"))
	ts.Setenv("GITHUB_STEP_SUMMARY", ts.MkAbs("summary.md"))
	exits(ts, false, []string{args[1], "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run})
}

// variables returns the environment variables of all flags of the commands.
func variables(t *testing.T, names ...string) []string {
	t.Helper()
	var all []string
	for _, name := range names {
		command, _, err := newRoot().Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		command.Flags().VisitAll(func(f *pflag.Flag) { all = append(all, envvar.OfFlag(f.Name)) })
	}
	return all
}

func TestActionUsesWhatExists(t *testing.T) {
	var file actionFile
	if err := readYAML("action.yml", &file); err != nil {
		t.Fatal(err)
	}
	flags, used, steps := variables(t, "run", loadCommand), []string{}, 0
	for _, step := range file.Runs.Steps {
		if step.Run != "" {
			steps++
			if step.Shell != "bash" {
				t.Errorf("the step %q has no shell, which a composite action must name", step.ID)
			}
			if inputExpression.MatchString(step.Run) {
				t.Errorf("the step %q puts an input into its script: hand it over by the environment", step.ID)
			}
		}
		for name, value := range step.Env {
			if strings.HasPrefix(name, "OUTREACH_") && !slices.Contains(flags, name) {
				t.Errorf("the step %q sets %s; the variables of run and load are %q", step.ID, name, flags)
			}
			for _, e := range inputExpression.FindAllStringSubmatch(value, -1) {
				used = append(used, e[1])
				if _, known := file.Inputs[e[1]]; !known {
					t.Errorf("the step %q takes the input %s, which is not declared", step.ID, e[1])
				}
			}
		}
	}
	if steps < 2 {
		t.Errorf("%d steps with a script: the test looks in the wrong place", steps)
	}
	text, err := os.ReadFile(filepath.Join(repository, "docs/gate-a-pull-request.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name := range file.Inputs {
		if name != "artifact" && !slices.Contains(used, name) {
			t.Errorf("no step takes the input %s", name)
		}
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("docs/gate-a-pull-request.md does not name the input %s", name)
		}
	}
}

func TestGitlabJobsUseWhatExists(t *testing.T) {
	var jobs map[string]gitlabJob
	if err := readYAML("docs/gitlab-ci.yml", &jobs); err != nil {
		t.Fatal(err)
	}
	if len(jobs) != 2 || jobs["conformance"].Artifacts.When != "always" || jobs["load"].Extends != "conformance" {
		t.Fatalf("want the job conformance, which keeps its results, and load, which extends it: %+v", jobs)
	}
	for name, of := range map[string]struct{ command, junit string }{"conformance": {"run", "junit.xml"}, "load": {loadCommand, loadJUnitFile}} {
		job := jobs[name]
		flags := variables(t, of.command)
		for given := range job.Variables {
			if strings.HasPrefix(given, "OUTREACH_") && !slices.Contains(flags, given) {
				t.Errorf("the job %s sets %s; the variables of %s are %q", name, given, of.command, flags)
			}
		}
		words := strings.Fields(job.Script[len(job.Script)-1])
		if command, _, err := newRoot().Find(words[1:]); err != nil || command.Name() != of.command || len(words) != 2 {
			t.Errorf("the job %s ends with %q: %v", name, words, err)
		}
		output := job.Variables["OUTREACH_OUTPUT"]
		if job.Artifacts.Reports["junit"] != output+"/"+of.junit || !slices.Contains(job.Artifacts.Paths, output+"/") {
			t.Errorf("the job %s does not keep what is in %s: %+v", name, output, job.Artifacts)
		}
	}
}

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/spf13/pflag"

	"outreach.example/conformance/internal/envvar"
)

// readYAML reads a YAML file of the repository.
func readYAML(path string, into any) error {
	text, err := os.ReadFile(filepath.Join(repository, path))
	if err != nil {
		return err
	}
	return yaml.Unmarshal(text, into)
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

// pinned matches an action of others at a commit, with its version as a comment.
var pinned = regexp.MustCompile(`(?m)^ +(?:- )?uses: [a-z-]+/[a-z/-]+@[0-9a-f]{40} # v[0-9]+\.[0-9]+\.[0-9]+$`)

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
			if expression.MatchString(step.Run) {
				t.Errorf("the step %q puts an expression into its script: hand it over by the environment", step.ID)
			}
		}
		values := []string{"${{ " + step.If + " }}"}
		for name, value := range step.Env {
			if strings.HasPrefix(name, "OUTREACH_") && !slices.Contains(flags, name) {
				t.Errorf("the step %q sets %s; the variables of run and load are %q", step.ID, name, flags)
			}
			values = append(values, value)
		}
		for _, value := range step.With {
			values = append(values, fmt.Sprint(value))
		}
		for _, value := range values {
			for _, e := range inputName.FindAllStringSubmatch(value, -1) {
				used = append(used, e[1])
				if _, known := file.Inputs[e[1]]; !known {
					t.Errorf("the step %q takes the input %s, which is not declared", step.ID, e[1])
				}
			}
			paths := strings.ReplaceAll(value, "github.action_repository", "")
			if strings.Contains(paths, "github.") || strings.Contains(paths, "runner.") {
				t.Errorf("the step %q uses %s: in a container job it is a path of the host", step.ID, value)
			}
		}
	}
	if steps < 4 {
		t.Errorf("%d steps with a script: the test looks in the wrong place", steps)
	}
	text, err := os.ReadFile(filepath.Join(repository, "docs/ci.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name := range file.Inputs {
		if !slices.Contains(used, name) {
			t.Errorf("no step takes the input %s", name)
		}
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("docs/ci.md does not name the input %s", name)
		}
	}
}

// A tag can move. A commit cannot.
func TestActionsOfOthersArePinned(t *testing.T) {
	for _, path := range []string{"action.yml", "docs/ci.md", ".github/workflows/release.yml"} {
		text, err := os.ReadFile(filepath.Join(repository, path))
		if err != nil {
			t.Fatal(err)
		}
		var others int
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(strings.TrimLeft(line, " -"), "uses: ") || strings.Contains(line, "OWNER/outreach-conformance@REVISION") {
				continue
			}
			others++
			if !pinned.MatchString(strings.TrimSuffix(line, "\n")) {
				t.Errorf("%s: %q is not pinned to a commit with its version as a comment", path, line)
			}
		}
		if others == 0 {
			t.Errorf("%s uses no action of others: the test looks in the wrong place", path)
		}
	}
}

// The workflow that makes releases may publish only where no code of the repository
// runs.
func TestTheReleaseWorkflow(t *testing.T) {
	var workflow struct {
		Permissions map[string]string `yaml:"permissions"`
		Jobs        map[string]struct {
			Permissions map[string]string `yaml:"permissions"`
			Steps       []actionStep      `yaml:"steps"`
		} `yaml:"jobs"`
	}
	if err := readYAML(".github/workflows/release.yml", &workflow); err != nil {
		t.Fatal(err)
	}
	build, publish := workflow.Jobs["build"], workflow.Jobs["publish"]
	if workflow.Permissions == nil || len(workflow.Permissions) > 0 || len(workflow.Jobs) != 2 {
		t.Errorf("the workflow has the permissions %v and %d jobs", workflow.Permissions, len(workflow.Jobs))
	}
	if !maps.Equal(build.Permissions, map[string]string{"contents": "read"}) ||
		!maps.Equal(publish.Permissions, map[string]string{"contents": "write", "packages": "write"}) {
		t.Errorf("the jobs have the permissions %v and %v", build.Permissions, publish.Permissions)
	}
	scripts := map[string]string{}
	for name, job := range workflow.Jobs {
		for _, step := range job.Steps {
			scripts[name] += step.Run
			if expression.MatchString(step.Run) {
				t.Errorf("the job %s puts an expression into a script: hand it over by the environment", name)
			}
			if version := step.With["go-version"]; version != nil && !strings.HasPrefix(fmt.Sprint(version), strings.TrimPrefix(goVersion(t), "go ")) {
				t.Errorf("the job %s uses Go %v, but go.mod says %s", name, version, goVersion(t))
			}
		}
	}
	if strings.Count(scripts["build"], `release VERSION="$GITHUB_REF_NAME"`) != 2 || strings.Contains(scripts["publish"], "make ") {
		t.Errorf("the scripts are %q", scripts)
	}
}

// goVersion returns the line of go.mod with the version of Go, without its patch.
func goVersion(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`(?m)^go 1\.[0-9]+`).FindString(string(text))
}

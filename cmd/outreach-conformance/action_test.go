package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/spf13/pflag"

	"outreach.example/conformance/internal/envvar"
)

// gitlabJob is the part of a job in docs/gitlab-ci.yml that tests read.
type gitlabJob struct {
	Extends   string            `yaml:"extends"`
	Variables map[string]string `yaml:"variables"`
	Services  []gitlabService   `yaml:"services"`
	Cache     struct {
		Key   string   `yaml:"key"`
		Paths []string `yaml:"paths"`
	} `yaml:"cache"`
	Before    []string `yaml:"before_script"`
	Script    []string `yaml:"script"`
	Artifacts struct {
		When    string            `yaml:"when"`
		Paths   []string          `yaml:"paths"`
		Reports map[string]string `yaml:"reports"`
	} `yaml:"artifacts"`
}

// gitlabService is a container beside a job.
type gitlabService struct {
	Name  string `yaml:"name"`
	Alias string `yaml:"alias"`
}

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

func TestGitlabJobsUseWhatExists(t *testing.T) {
	var jobs map[string]gitlabJob
	if err := readYAML("docs/gitlab-ci.yml", &jobs); err != nil {
		t.Fatal(err)
	}
	if len(jobs) != 2 || jobs["conformance"].Artifacts.When != "always" || jobs["load"].Extends != "conformance" {
		t.Fatalf("want the job conformance, which keeps its results, and load, which extends it: %+v", jobs)
	}
	// The cache must not outlive the revision that it was built from.
	job := jobs["conformance"]
	if !strings.Contains(job.Cache.Key, "$HARNESS_REVISION") || !slices.Equal(job.Cache.Paths, []string{".harness/"}) {
		t.Errorf("the cache is %+v", job.Cache)
	}
	if target := job.Variables["OUTREACH_TARGET"]; len(job.Services) != 1 || !strings.HasPrefix(target, "http://"+job.Services[0].Alias+":") {
		t.Errorf("the target is %s, but the services are %+v", target, job.Services)
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
		quality := job.Artifacts.Reports["codequality"]
		if !strings.HasPrefix(quality, output+"/") || !strings.HasSuffix(job.Variables["OUTREACH_FORMAT"], ";gitlab="+quality) {
			t.Errorf("the job %s shows the code quality of %q, and writes %s", name, quality, job.Variables["OUTREACH_FORMAT"])
		}
		if job.Artifacts.Reports["junit"] != output+"/"+of.junit || !slices.Contains(job.Artifacts.Paths, output+"/") {
			t.Errorf("the job %s does not keep what is in %s: %+v", name, output, job.Artifacts)
		}
	}
}

// gitlabRunner runs the before_script of the GitLab job in a project, with the released
// files below an address, and with git and go that only record what they should do.
type gitlabRunner struct {
	t        *testing.T
	releases string
	project  string
	tools    string
}

func newGitlabRunner(t *testing.T, releases string) gitlabRunner {
	t.Helper()
	g := gitlabRunner{t: t, releases: releases, project: t.TempDir(), tools: t.TempDir()}
	for _, tool := range []string{"git", "go"} {
		stub := "#!/bin/sh\necho \"$(basename $0) $*\" >>used.txt\n"
		if tool == "go" {
			stub += "echo built >.harness/outreach-conformance\nchmod 755 .harness/outreach-conformance\n"
		}
		if err := os.WriteFile(filepath.Join(g.tools, tool), []byte(stub), 0o700); err != nil { //nolint:gosec // it must be executable
			t.Fatal(err)
		}
	}
	return g
}

// before runs the before_script. It returns the harness, what git and go were called
// with, and the output.
func (g gitlabRunner) before(revision string) (harness, used, output string, err error) {
	g.t.Helper()
	var jobs map[string]gitlabJob
	if err := readYAML("docs/gitlab-ci.yml", &jobs); err != nil {
		g.t.Fatal(err)
	}
	downloads := filepath.Join(g.project, "release")
	script := strings.ReplaceAll(strings.Join(jobs["conformance"].Before, "\n"), "/tmp/release", downloads)
	cmd := exec.Command("sh", "-e", "-c", script)
	cmd.Dir = g.project
	cmd.Env = append(os.Environ(), "PATH="+g.tools+":"+os.Getenv("PATH"), "CI_PROJECT_DIR="+g.project,
		"HARNESS_RELEASES="+g.releases, "HARNESS_REPOSITORY=https://h.example", "HARNESS_REVISION="+revision)
	out, err := cmd.CombinedOutput()
	read := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(g.project, name)) // empty without the file
		return string(text)
	}
	return read(".harness/outreach-conformance"), read("used.txt"), string(out), err
}

// The job builds a revision without a release, only if the cache has none.
func TestGitlabJobsBuildOnce(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	g := newGitlabRunner(t, server.URL)
	var used string
	for range 2 {
		harness, calls, out, err := g.before("1.2")
		if err != nil || harness != "built\n" {
			t.Fatalf("%v: %s", err, out)
		}
		used = calls
	}
	want := "git clone -q https://h.example /tmp/harness\ngit -C /tmp/harness checkout -q 1.2\n" +
		"go build -C /tmp/harness -trimpath -o " + g.project + "/.harness/outreach-conformance ./cmd/outreach-conformance\n"
	if used != want {
		t.Errorf("the jobs ran\n%s\nwant\n%s", used, want)
	}
}

// The job takes a release only with the right checksum.
func TestGitlabJobsVerifyTheRelease(t *testing.T) {
	var archive bytes.Buffer
	compressed := gzip.NewWriter(&archive)
	entries := tar.NewWriter(compressed)
	err := entries.WriteHeader(&tar.Header{Name: program, Mode: 0o755, Size: int64(len("released\n"))})
	_, written := io.WriteString(entries, "released\n")
	if err := errors.Join(err, written, entries.Close(), compressed.Close()); err != nil {
		t.Fatal(err)
	}
	for revision, sums := range map[string]string{
		"v1.2.3": fmt.Sprintf("%x  %%s\n", sha256.Sum256(archive.Bytes())),
		"v1.2.4": fmt.Sprintf("%x  %%s\n", sha256.Sum256(nil)),
		"v1.2.5": "",
	} {
		served := http.NewServeMux()
		served.HandleFunc("/"+revision+"/{file}", func(w http.ResponseWriter, r *http.Request) {
			if file := r.PathValue("file"); file != "checksums.txt" {
				_, _ = w.Write(archive.Bytes())
				return
			}
			for _, arch := range []string{"amd64", "arm64"} {
				_, _ = io.WriteString(w, strings.ReplaceAll(sums, "%s", fmt.Sprintf("%s_%s_linux_%s.tar.gz", program, revision, arch)))
			}
		})
		server := httptest.NewServer(served)
		t.Cleanup(server.Close)
		harness, used, out, err := newGitlabRunner(t, server.URL).before(revision)
		if used != "" {
			t.Errorf("%s: the job ran %s", revision, used)
		}
		if revision == "v1.2.3" {
			if err != nil || harness != "released\n" {
				t.Errorf("the harness is %q: %v\n%s", harness, err, out)
			}
		} else if err == nil || harness != "" || !strings.Contains(out, "does not have the checksum of its release") {
			t.Errorf("%s: the harness is %q: %v\n%s", revision, harness, err, out)
		}
	}
}

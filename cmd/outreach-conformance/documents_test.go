package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/standin"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/suites/selftest/faults"
)

// repository is the root of the repository, where the documents are, and scripts the directory of
// the scripts. A script changes the working directory.
var (
	repository = absolute("../..")
	scripts    = absolute("testdata")
)

func absolute(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		panic(err)
	}
	return path
}

// TestDocuments runs the command lines of the documents. The scripts in
// testdata/documents/*.txtar give the order, prepare what the lines need and
// check the results. In addition to the commands of TestScripts there are:
//
//	commands FILE HEADING       runs what the sh blocks below the heading say; a
//	                            line ends with exit code 0, or with the one that
//	                            its comment names: # exits with CODE. One that
//	                            loads a server ends with any verdict
//	session FILE                runs the command at the start of each text block of
//	                            the file, and looks for the output shown below it
//	defective NAME ID           serves what $URL does, with the defect; $NAME is
//	                            its address
//	mock NAME                   serves examples of the OpenAPI document
//	action CODE INPUT=…         runs the steps of action.yml, which end with that code
//	releases NAME DIRECTORY     serves the directory; $NAME is its address
func TestDocuments(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 documentScripts,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               unfold,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "start": start, "interrupt": interrupt, "results": results, "profile": writeProfile,
			"commands": commands, "session": showSession, "defective": defective, "mock": mock, "action": action, "releases": releases,
		},
	})
}

var documentScripts = filepath.Join(scripts, "documents")

// unfold prepares what the documents assume: bin/outreach-conformance, the files
// of the repository that they name, and the variables that hold API keys.
func unfold(env *testscript.Env) error {
	env.Values[scriptKey{}] = &script{vars: env.Vars, running: map[string]*process{}}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	docs, err := filepath.Abs(filepath.Join(repository, "docs"))
	if err != nil {
		return err
	}
	if err := handOverKeys(env, filepath.Join(docs, "target-profile.yaml")); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(env.WorkDir, "bin"), 0o755); err != nil {
		return err
	}
	if err := os.Symlink(self, filepath.Join(env.WorkDir, "bin", program)); err != nil {
		return err
	}
	return os.Symlink(docs, filepath.Join(env.WorkDir, "docs"))
}

// handOverKeys sets the variables of the sample profile and of target init to keys
// of the reference server.
func handOverKeys(env *testscript.Env, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	sample, err := profile.Parse(path, text)
	if err != nil {
		return err
	}
	reference := profile.Embedded()
	for _, k := range sample.Keys {
		same, ok := reference.ScopedKey(k.Workspace, k.Scopes[0])
		if !ok {
			return fmt.Errorf("%s: the reference server has no key like %s", path, k.Name)
		}
		env.Setenv(k.TokenEnv, same.Token)
		if k.Name == "main" {
			env.Setenv("OUTREACH_KEY_MAIN", same.Token)
		}
	}
	return nil
}

var (
	heading    = regexp.MustCompile(`(?m)^## (.+)$`)
	shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")
	exitRemark = regexp.MustCompile(`# exits with (\d+)$`)
	// containerTarget marks lines that need a Docker engine. Here they only look for
	// one. The tests of fixtures/target start containers.
	containerTarget = regexp.MustCompile(`--target '?(?:image|dockerfile):`)
	// elsewhere are command lines of other programs. internal/doctest verifies the
	// targets of make and the packages of go and ginkgo. The tests of
	// fixtures/target build the image, those of loadtest/swarm run fan-out.
	elsewhere = regexp.MustCompile(`^(?:OUTREACH_\w+=\S+ )*(?:make |CGO_ENABLED=0 go build |go test |ginkgo |docker |kubectl |vegeta |loadtest/swarm/fan-out )`)
	exported  = regexp.MustCompile(`^export (\w+)=`)
)

// linesBelow returns the command lines of a document by heading. The key "" has
// those above the first heading.
func linesBelow(document string) (map[string][]string, error) {
	text, err := os.ReadFile(filepath.Join(repository, document))
	if err != nil {
		return nil, err
	}
	lines := map[string][]string{}
	for _, block := range shellBlock.FindAllSubmatchIndex(text, -1) {
		under := ""
		if headings := heading.FindAllSubmatch(text[:block[0]], -1); len(headings) > 0 {
			under = string(headings[len(headings)-1][1])
		}
		for line := range strings.Lines(string(text[block[2]:block[3]])) {
			if line = strings.TrimSpace(line); !elsewhere.MatchString(line) {
				lines[under] = append(lines[under], line)
			}
		}
	}
	return lines, nil
}

func commands(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: commands FILE HEADING")
	}
	below, err := linesBelow(args[0])
	ts.Check(err)
	lines := below[args[1]]
	if len(lines) == 0 {
		ts.Fatalf("%s has no commands below %q", args[0], args[1])
	}
	for _, line := range lines {
		if name := exported.FindStringSubmatch(line); name != nil {
			if ts.Getenv(name[1]) == "" {
				ts.Fatalf("the script must set %s for the line %s", name[1], line)
			}
			continue // its value in the document is a placeholder
		}
		code := "0"
		if remark := exitRemark.FindStringSubmatch(line); remark != nil {
			code = remark[1]
		}
		line = instead(ts).Replace(line)
		if containerTarget.MatchString(line) {
			line, code = "DOCKER_HOST=unix:///no/such/docker.sock "+line, "2"
		}
		if loads(line) && code == "0" {
			anyVerdict(ts, line)
			continue
		}
		exits(ts, false, []string{code, "bash", "-c", line})
		if containerTarget.MatchString(line) && !strings.Contains(ts.ReadFile("stderr"), "no Docker engine") {
			ts.Fatalf("this line does not look for Docker")
		}
	}
}

// loads reports whether a line loads a server, or compares the figures of two loads.
// Its figures, and so its verdict, depend on the machine.
func loads(line string) bool {
	return strings.Contains(line, program+" load ") && !strings.Contains(line, " --list") ||
		strings.Contains(line, program+" report diff ") && strings.Contains(line, " --threshold ")
}

var verdictLine = regexp.MustCompile(`(?m)^\S+ .*\bexit [013]\b`)

// anyVerdict runs a line that must end with a verdict, whichever it is.
func anyVerdict(ts *testscript.TestScript, line string) {
	err := ts.Exec("bash", "-c", line)
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1 && exit.ExitCode() != 3) {
		ts.Fatalf("%v", err)
	}
	if !verdictLine.MatchString(ts.ReadFile("stdout")) {
		ts.Fatalf("this ends without a verdict")
	}
}

// instead replaces placeholders, and sizes that are too large for a test.
func instead(ts *testscript.TestScript) *strings.Replacer {
	return strings.NewReplacer(
		"go run ./cmd/outreach-conformance", "bin/outreach-conformance",
		"http://127.0.0.1:8025", ts.Getenv("URL"),
		"http://127.0.0.1:8026", ts.Getenv("SECOND"),
		"--truth-addr 127.0.0.1:8026", "--truth-addr 127.0.0.1:0",
		"https://api.example.com", ts.Getenv("URL"),
		"http://127.0.0.1:4010", ts.Getenv("MOCK"),
		"webhook-events=1000000", "webhook-events=1000",
		"--sample 100", "--sample 5",
		"bundle.zip --level full", "bundle.zip", // no test has a program with a known commit, which a certificate needs
		"--duration 30s", "--duration 1s",
		"--duration 8h", "--duration 5s",
		"--duration 15m", "--duration 2s",
		"--lag-limit 250ms", "--lag-limit 1m",
		"--threshold 'p99<500ms'", "--threshold 'p99<500ms' --lag-limit 1m",
	)
}

// TestEveryCommandIsRun verifies that the scripts run all command lines of the documents.
func TestEveryCommandIsRun(t *testing.T) {
	var scripts strings.Builder
	paths, err := filepath.Glob(filepath.Join(documentScripts, "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts in %s: %v", documentScripts, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		scripts.Write(text)
	}
	documents, err := filepath.Glob(filepath.Join(repository, "docs", "*.md"))
	if err != nil || len(documents) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	for _, path := range append(documents, filepath.Join(repository, "README.md"), filepath.Join(repository, "CONTRIBUTING.md")) {
		document, err := filepath.Rel(repository, path)
		if err != nil {
			t.Fatal(err)
		}
		below, err := linesBelow(document)
		if err != nil {
			t.Fatal(err)
		}
		for under := range below {
			if !strings.Contains(scripts.String(), fmt.Sprintf("commands %s '%s'\n", document, under)) {
				t.Errorf("no script in %s runs the commands of %s below %q", documentScripts, document, under)
			}
		}
	}
}

// serving serves until the script ends, and puts the address into the variable.
func serving(ts *testscript.TestScript, name string, handler http.Handler) {
	server := httptest.NewServer(handler)
	ts.Defer(server.Close)
	ts.Setenv(name, server.URL)
}

func defective(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: defective NAME ID")
	}
	all := faults.Defects()
	i := slices.IndexFunc(all, func(d faults.Defect) bool { return d.ID == args[1] })
	if i < 0 {
		ts.Fatalf("there is no defect %s", args[1])
	}
	base, err := url.Parse(ts.Getenv("URL"))
	ts.Check(err)
	target := &faults.Target{Profile: profile.Embedded(), Seed: 1}
	serving(ts, args[0], faults.Listening(all[i].Apply(target)(faults.Forwarding(base, http.DefaultTransport))))
}

func partial(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 || !slices.Contains(testbed.UnservedForms, args[1]) || args[2] != "route-first" && args[2] != "authorization-first" {
		ts.Fatalf("usage: partial NAME FORM route-first|authorization-first OPERATION…; forms: %s", strings.Join(testbed.UnservedForms, ", "))
	}
	base, err := url.Parse(ts.Getenv("URL"))
	ts.Check(err)
	serving(ts, args[0], testbed.Partial{Next: httputil.NewSingleHostReverseProxy(base), Form: args[1],
		AuthorizationFirst: args[2] == "authorization-first", Serves: args[3:]})
}

func mock(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: mock NAME")
	}
	handler, err := standin.New()
	ts.Check(err)
	serving(ts, args[0], handler)
}

// sessionBlock matches a text block of a document with a command and its output.
var sessionBlock = regexp.MustCompile("(?ms)^```text\n\\$ ([^\n]*)\n(.*?)^```$")

// showSession runs the commands of a document's sessions, with any exit code. Their output
// must have the lines of the document, in order. A line … matches any lines, and … at
// the end of a line matches its rest.
func showSession(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: session FILE")
	}
	text, err := os.ReadFile(filepath.Join(repository, args[0]))
	ts.Check(err)
	sessions := sessionBlock.FindAllStringSubmatch(string(text), -1)
	if len(sessions) == 0 {
		ts.Fatalf("%s shows no session", args[0])
	}
	for _, s := range sessions {
		_ = ts.Exec("bash", "-c", instead(ts).Replace(s[1])) // only its output matters
		printed := strings.Split(ts.ReadFile("stdout"), "\n")
		for line := range strings.Lines(s[2]) {
			line = instead(ts).Replace(strings.TrimRight(line, "\n"))
			beginning, cut := strings.CutSuffix(line, "…")
			i := slices.IndexFunc(printed, func(p string) bool { return p == line || cut && strings.HasPrefix(p, beginning) })
			if i < 0 {
				ts.Fatalf("%s shows a line that %q does not print there: %q", args[0], s[1], line)
			}
			if line != "…" {
				printed = printed[i+1:]
			}
		}
	}
}

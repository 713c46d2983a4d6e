package runner

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/onsi/ginkgo/v2/types"
	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
	"outreach.example/conformance/suites/api"
	"outreach.example/conformance/suites/selftest/faults"
	"outreach.example/conformance/suites/tree"
)

// Without Ginkgo's report there are no results.
func TestResultsComeFromGinkgosReport(t *testing.T) {
	g := NewWithT(t)
	subject := embedded(t)
	env, err := NewEnv(Config{Target: subject, Seed: 1})
	g.Expect(err).NotTo(HaveOccurred())
	defer env.Client.Close()
	outcome, err := suites.Tree.Run(t.Context(), env, tree.Plan{Selects: func(s api.Spec) bool {
		return slices.ContainsFunc(s.Pairs, func(p spec.Pair) bool { return strings.HasPrefix(p.Requirement, "AUTH-") })
	}})
	g.Expect(err).NotTo(HaveOccurred())

	passed := func(report types.Report) int {
		ledger, err := tree.Evidence(report, spec.Pairs())
		g.Expect(err).NotTo(HaveOccurred())
		return reports.Count(ledger.Checks()).Pass
	}
	g.Expect(passed(outcome.Report)).To(BeNumerically(">=", 5*len(spec.Operations())))
	g.Expect(passed(types.Report{})).To(BeZero())
	for i := range outcome.Report.SpecReports {
		outcome.Report.SpecReports[i].ReportEntries = nil
	}
	g.Expect(passed(outcome.Report)).To(BeZero(), "specs that passed show nothing without their entries")
}

// Each check names the specs that judged it, by the line that adds them.
func TestChecksNameTheirSpecs_long(t *testing.T) {
	g := NewWithT(t)
	results, err := Run(t.Context(), Config{Target: embedded(t), Seed: 1})
	g.Expect(err).NotTo(HaveOccurred())
	lines := map[string][]string{} // of files
	seconds := 0.0
	for _, c := range results.Checks {
		seconds += c.Seconds
		g.Expect(c.Specs).NotTo(BeEmpty(), "%s on %s", c.Requirement, c.Operation)
		for _, location := range c.Specs {
			file, line, _ := strings.Cut(location, ":")
			if lines[file] == nil {
				source, err := os.ReadFile(filepath.Join("..", "..", file))
				g.Expect(err).NotTo(HaveOccurred())
				lines[file] = strings.Split(string(source), "\n")
			}
			number, err := strconv.Atoi(line)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(lines[file][number-1]).To(MatchRegexp(`\b(It|documentedShape)\(`), location)
		}
		if c.Requirement == string(spec.LeadMoveLead) {
			g.Expect(c.Specs).To(ConsistOf(HavePrefix("suites/leads.go:")))
		}
	}
	g.Expect(seconds).To(BeNumerically(">", 0))

	checks := []reports.Check{{Requirement: string(spec.LeadMoveLead), Operation: spec.MoveLead}}
	g.Expect(tree.AddSpecs(checks, types.Report{})).To(Succeed())
	g.Expect(checks[0].Specs).To(BeEmpty(), "there is no other source than Ginkgo's report")
}

// A target on which one requirement is broken fails the same checks under run and
// under ginkgo, in few lines, and the spec of the requirement alone.
func TestRunAndGinkgoFailAlike_long(t *testing.T) {
	suite := builtSuite(t)
	for name, tc := range map[string]struct {
		breaks spec.Pair
		file   string // where the failure is
	}{
		"a field of the wrong type": {spec.Pair{Requirement: "SHAPE-SUBSEQUENCE-NAME-TYPE", Operation: spec.ListSubsequences}, "suites/resources.go:"},
		"another lead":              {spec.LeadMoveLead.On(spec.MoveLead), "suites/leads.go:"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			subject := defective(t, tc.breaks)
			described, err := subject.Profile.YAML("")
			g.Expect(err).NotTo(HaveOccurred())
			profileFile := filepath.Join(t.TempDir(), "target.yaml")
			g.Expect(os.WriteFile(profileFile, described, 0o600)).To(Succeed())
			results, err := Run(t.Context(), Config{Target: subject, Seed: 1})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(failed(results.Checks)).To(ContainElement(tc.breaks))

			file := filepath.Join(t.TempDir(), "report.json")
			command := exec.CommandContext(t.Context(), suite, "-test.run=^TestConformance$",
				"-ginkgo.no-color", "-ginkgo.succinct", "-ginkgo.seed=1", "-ginkgo.json-report="+file)
			command.Dir, command.Env = "..", append(os.Environ(), target.EnvTarget+"="+subject.BaseURL, target.EnvProfile+"="+profileFile)
			out, err := command.CombinedOutput()
			g.Expect(err).To(HaveOccurred(), "the suite must fail")
			g.Expect(bytes.Count(out, []byte("\n"))).To(BeNumerically("<", 100), "%s", out)

			report := read(t, file)
			ledger, err := tree.Evidence(report, spec.Pairs())
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(failed(ledger.Checks())).To(ConsistOf(failed(results.Checks)))
			var places []string
			for _, s := range report.SpecReports {
				if s.Failed() && s.LeafNodeType.Is(types.NodeTypeIt) {
					places = append(places, s.FailureLocation().String(), s.LeafNodeLocation.String())
				}
			}
			g.Expect(places).To(ContainElement(ContainSubstring(tc.file)))
		})
	}
}

// builtSuite is the test binary of package suites, as go test builds it.
func builtSuite(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "suites.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-trimpath", "-o", path, "..")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as testbed.Built builds: the compiler's cache has most of it
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

func failed(checks []reports.Check) (pairs []spec.Pair) {
	for _, c := range checks {
		if c.Outcome == reports.Fail {
			pairs = append(pairs, spec.Pair{Requirement: c.Requirement, Operation: c.Operation})
		}
	}
	return pairs
}

func read(t *testing.T, file string) types.Report {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []types.Report
	if err := json.Unmarshal(text, &all); err != nil || len(all) != 1 {
		t.Fatalf("%d reports: %v", len(all), err)
	}
	return all[0]
}

// defective serves the reference service with a defect that breaks just the pair.
func defective(t *testing.T, breaks spec.Pair) *target.Target {
	t.Helper()
	options := dataset.DefaultOptions()
	options.Rows = *rows
	data, err := dataset.New(options)
	if err != nil {
		t.Fatal(err)
	}
	server, err := refserver.New(data, refserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	described := profile.FromDataset(data)
	for _, d := range faults.Defects() {
		if d.Breaks == breaks {
			handler := d.Apply(&faults.Target{Profile: described, Seed: 1})(faults.Serving(server.Handler()))
			listening := httptest.NewServer(faults.Listening(handler))
			t.Cleanup(listening.Close)
			subject, err := target.URL(described, listening.URL)
			if err != nil {
				t.Fatal(err)
			}
			return subject
		}
	}
	t.Fatalf("no defect breaks %v", breaks)
	return nil
}

// What Ginkgo would end the process for is an error instead.
func TestWhatEndsGinkgoIsAnError(t *testing.T) {
	g := NewWithT(t)
	env, err := NewEnv(Config{Target: embedded(t), Seed: 1, Rules: &judge.Rules{}})
	g.Expect(err).NotTo(HaveOccurred())
	defer env.Client.Close()
	here, err := os.Getwd()
	g.Expect(err).NotTo(HaveOccurred())
	gone := filepath.Join(t.TempDir(), "gone")
	g.Expect(os.Mkdir(gone, 0o700)).To(Succeed())
	t.Chdir(gone)
	g.Expect(os.Remove(gone)).To(Succeed())
	_, err = suites.Tree.Run(t.Context(), env, tree.Plan{})
	g.Expect(err).To(MatchError(ContainSubstring("no working directory")))
	g.Expect(os.Chdir(here)).To(Succeed())
}

// A selection of the command line selects the specs of its pairs, and no spec that only observes.
func TestSelectionSelectsTheSpecsOfItsPairs(t *testing.T) {
	g := NewWithT(t)
	for _, s := range []Selection{
		{Operations: []string{"lead-*.list"}}, {Requirements: []string{"PAGE-WALK-*", "SORT-?SC"}}, {Requirements: []string{"SHAPE-LEAD-EMAIL-TYPE"}},
		{Groups: []string{"isolation"}}, {Profiles: []spec.Profile{spec.ProfileBilling}}, {Operations: []string{"leads.move"}, Groups: []string{"state", "[ai]*"}},
	} {
		pairs, err := s.Pairs()
		g.Expect(err).NotTo(HaveOccurred())
		selects, some := s.Plan(pairs).Selects, 0
		for _, one := range suites.Tree.Specs() {
			judges := slices.ContainsFunc(one.Pairs, func(p spec.Pair) bool { return slices.Contains(pairs, p) })
			g.Expect(selects(one)).To(Equal(judges), "%+v: %s", s, one.Name())
			if judges {
				some++
			}
		}
		g.Expect(some).To(And(BeNumerically(">", 0), BeNumerically("<", len(suites.Tree.Specs())/2)), "%+v", s)
	}
	g.Expect(Selection{}.Plan(spec.Pairs()).Selects).To(BeNil(), "everything")
}

// Ginkgo ends the process, without a word on the muted console, when go test repeats its
// tests. A run says so instead.
func TestRepeatedGoTestsAreRefused(t *testing.T) {
	g := NewWithT(t)
	count := flag.Lookup("test.count").Value
	before := count.String()
	g.Expect(flag.Set("test.count", "2")).To(Succeed())
	defer func() { _ = count.Set(before) }()
	_, err := Run(t.Context(), Config{Target: embedded(t), Seed: 1})
	g.Expect(err).To(MatchError(ContainSubstring("Ginkgo refuses to run there (leave the flags out)")))
}

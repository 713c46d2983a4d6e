package runner

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/evidence"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/schemas/contract"
	"outreach.example/conformance/spec"
)

// reference is the full run on the reference server that the tests share.
type reference struct {
	results   reports.Results
	said      Description
	announced []string
	profile   *profile.Profile
	challenge Challenge
	recording []byte
	invalid   []string // what the document does not allow in requests that got 200
}

var referenceRun = sync.OnceValues(func() (shared reference, err error) {
	document, err := contract.Load()
	if err != nil {
		return shared, err
	}
	var mu sync.Mutex
	server, err := steady(refserver.Options{Middleware: []func(http.Handler) http.Handler{func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			answer := &status{ResponseWriter: w}
			next.ServeHTTP(answer, r)
			if answer.code != http.StatusOK || r.URL.Path == spec.OptionsPath {
				return
			}
			for _, v := range document.Judge(r, body).Violations {
				if !leftOpen(r, v) {
					mu.Lock()
					shared.invalid = append(shared.invalid, fmt.Sprintf("%s %s: %s", r.Method, r.URL, v.Message))
					mu.Unlock()
				}
			}
		})
	}}})
	if err != nil {
		return shared, err
	}
	defer func() { _ = server.Close(context.Background()) }()
	var file bytes.Buffer
	shared.profile, shared.challenge = server.Profile, Challenge{Nonce: "a nonce", Run: 2, Ordinary: true}
	shared.results, err = Run(context.Background(), Config{Target: server, Version: "test", Challenge: &shared.challenge,
		Evidence: evidence.NewRecorder(&file, reports.ToolName, "test", profile.Shape),
		Begin:    func(d Description) { shared.said = d },
		Waits: func(what string, atMost time.Duration) {
			if atMost == 0 {
				mu.Lock()
				defer mu.Unlock()
				shared.announced = append(shared.announced, what)
			}
		}})
	shared.recording = file.Bytes()
	return shared, err
})

// steady starts a reference server that has the same verdicts on a busy machine. The period of
// its rate limit is so long that a busy machine exceeds the limit in time, too.
func steady(options refserver.Options) (*target.Target, error) {
	return limitedPer(4*time.Second, *rows, options)
}

// status notes the status of a response.
type status struct {
	http.ResponseWriter
	code int
}

func (s *status) WriteHeader(code int) {
	s.code = code
	s.ResponseWriter.WriteHeader(code)
}

func (s *status) Write(p []byte) (int, error) {
	if s.code == 0 {
		s.code = http.StatusOK
	}
	return s.ResponseWriter.Write(p)
}

// leftOpen reports whether the specification leaves open what a server does with the invalid
// part of a request, so that specs send it and the reference server accepts it.
func leftOpen(r *http.Request, v contract.Violation) bool {
	values := r.URL.Query()[strings.TrimPrefix(v.Place, "query/")]
	odd := len(values) == 2 && values[0] == values[1] || len(values) == 1 && slices.Contains([]string{"", " ", "\x00", "TRUE", "1", "yes"}, values[0])
	return v.Rule == contract.ReadOnlyMember || v.Place == "query/conformance_unknown" || odd
}

func shared(t *testing.T) reference {
	t.Helper()
	run, err := referenceRun()
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// The reference server passes every check. The run sends valid requests where it means to, and
// leaves no response without a verdict.
func TestTheReferenceServerPasses(t *testing.T) {
	g, run := NewWithT(t), shared(t)
	results := run.results
	g.Expect(readable(results)).To(Succeed())
	g.Expect(results.Verdict).To(Equal(reports.Passed), "%v %v", results.Reasons, results.Troubles)
	g.Expect(results.ExitCode()).To(BeZero())
	for name, what := range found(results) {
		g.Expect(what).NotTo(Or(HavePrefix("fail"), HavePrefix("error"), HavePrefix("not-assessed")), name)
	}
	g.Expect(of(results, reports.Pass)).To(HaveLen(len(spec.Pairs())))
	g.Expect(results.Troubles).To(BeEmpty())
	g.Expect(results.Observations).NotTo(BeEmpty())
	g.Expect(results.Traffic.Requests).To(BeNumerically(">", 0))
	g.Expect(results.Traffic.Unjudged).To(BeZero())
	g.Expect(results.Target).To(Equal(reports.Target{Name: run.profile.Name, Version: run.profile.Version, Vendor: run.profile.Vendor,
		BaseURL: results.Target.BaseURL, Kind: target.KindEmbedded}))
	g.Expect(run.invalid).To(BeEmpty(), "requests that the document does not allow")
	g.Expect(results.Requests).To(ContainElement(And(HaveField("Operation", spec.ListLeadLists), HaveField("Allowed", "401"), HaveField("Accepted", 0))))
}

// The run announces what it costs, and accounts for its time.
func TestTheRunCostsWhatItSaid(t *testing.T) {
	g, run := NewWithT(t), shared(t)
	sent := run.results.Traffic.Requests
	g.Expect(run.said.Requests).To(And(BeNumerically(">", sent/2), BeNumerically("<", 2*sent)))
	g.Expect(run.said.RoundTrip).To(BeNumerically(">", 0))
	g.Expect(run.announced).To(ConsistOf(MatchRegexp("^exceeding the rate limit of the key limited, up to [0-9,]+ requests$")))
	spent := run.results.Run.Time
	g.Expect(spent.Judging + spent.RateLimit + spent.Throttled + spent.Paced + spent.Locked).To(BeNumerically("~", run.results.Run.Seconds, 0.1*run.results.Run.Seconds+0.1))
}

// Each check names the specs that judged it, by the line that adds them, and the exchanges.
func TestChecksNameTheirSpecs(t *testing.T) {
	g := NewWithT(t)
	lines := map[string][]string{} // of files
	for _, c := range shared(t).results.Checks {
		g.Expect(c.Specs).NotTo(BeEmpty(), "%s on %s", c.Requirement, c.Operation)
		g.Expect(c.Exchanges).NotTo(BeEmpty(), "%s on %s", c.Requirement, c.Operation)
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
	}
}

// A recorded run that is judged again sends the same requests and has the same outcomes. Its
// recording holds no key. A choice that somebody has changed is trouble.
func TestARecordedRunIsJudgedAgain_long(t *testing.T) {
	g, run := NewWithT(t), shared(t)
	text := uncompressed(t, run.recording)
	testbed.HoldsNoKey(t, run.profile.Keys, map[string]string{"the recording": text})
	g.Expect(text).NotTo(MatchRegexp(`\\"(name|email_subject)\\":\\"[^"]*conformance`), "a name shows who drew it")
	again, err := JudgeAgain(t.Context(), bytes.NewReader(run.recording), "test")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again.Fits()).To(BeTrue(), "%v %v", again.Missing, again.Left)
	g.Expect(of(again.Results, reports.Pass)).To(Equal(of(run.results, reports.Pass)))
	g.Expect(again.Results.Verdict).To(Equal(reports.Passed))
	g.Expect(run.challenge.Explains(again.Recording)).To(Succeed())
	g.Expect(Challenge{Nonce: "another", Run: 2}.Explains(again.Recording)).To(MatchError(ContainSubstring("does not follow from the nonce")))
	for pattern, forged := range map[string][2]string{
		`("the state of [^"]*":)\[0\]`: {"${1}[2]", "which no request does"},
		`("provoked [^"]*":)\[1\]`:     {"${1}[0]", "for the first time"},
	} {
		changed, err := JudgeAgain(t.Context(), compressed(regexp.MustCompile(pattern).ReplaceAllString(text, forged[0])), "test")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(changed.Results.Troubles).To(ContainElement(HaveField("What", ContainSubstring(forged[1]))))
		g.Expect(changed.Results.Verdict).NotTo(Equal(reports.Passed))
	}
}

func uncompressed(t *testing.T, recording []byte) string {
	t.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(recording))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func compressed(text string) io.Reader {
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	_, _ = io.WriteString(zip, text)
	_ = zip.Close()
	return &out
}

// The same target is judged alike whatever the order of the specs, what they meet each other
// doing, and what is generated. So is a server that is already there.
func TestSteady(t *testing.T) {
	if testbed.RaceDetector {
		t.Skip("it takes long, and the other tests show races")
	}
	base := found(shared(t).results)
	for seed := 2; seed <= *runs; seed++ {
		server, err := steady(refserver.Options{})
		server = living(t, server, err)
		if seed == 2 {
			if server, err = target.URL(server.Profile, server.BaseURL); err != nil {
				t.Fatal(err)
			}
		}
		again := found(judged(t, t.Context(), Config{Target: server, Seed: uint64(seed)}))
		for name := range base {
			if again[name] != base[name] {
				t.Errorf("seed %d: %s: %q and %q", seed, name, base[name], again[name])
			}
		}
		NewWithT(t).Expect(again).To(HaveLen(len(base)))
	}
}

// A list of any length is read in pages of a legal size.
func TestLongListsAreReadInLegalPages_long(t *testing.T) {
	server, err := start(700, refserver.Options{})
	results := judged(t, t.Context(), Config{Target: living(t, server, err)})
	NewWithT(t).Expect(results.Verdict).To(Equal(reports.Passed), "%v", results.Reasons)
}

package runner

import (
	"bytes"
	"compress/gzip"
	"io"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/evidence"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// A recorded run that is judged again has the same outcomes, and sends the same requests. A
// response that somebody has changed shows.
func TestRecordedRunIsJudgedAgain_long(t *testing.T) {
	judgeAgain(t, Selection{}, &Challenge{Nonce: "a nonce", Run: 2, Ordinary: true})
}

func judgeAgain(t *testing.T, s Selection, challenge *Challenge) {
	t.Helper()
	g := NewWithT(t)
	var file bytes.Buffer
	config := Config{Target: embedded(t), Selection: s, Seed: 5, Challenge: challenge, Evidence: evidence.NewRecorder(&file, reports.ToolName, "test", profile.Shape)}
	recorded, err := Run(t.Context(), config)
	g.Expect(err).NotTo(HaveOccurred())

	text := uncompressed(t, file.Bytes())
	for _, k := range config.Target.Profile.Keys {
		g.Expect(strings.Contains(text, k.Token)).To(BeFalse(), "the recording holds the key %s", k.Name)
	}
	again, err := JudgeAgain(t.Context(), bytes.NewReader(file.Bytes()), "test")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again.Missing).To(BeEmpty())
	g.Expect(again.Left).To(BeEmpty())
	g.Expect(outcomesOf(again.Results)).To(Equal(outcomesOf(recorded)))
	g.Expect(again.Results.Verdict).To(Equal(recorded.Verdict))
	for _, c := range recorded.Checks {
		if c.Outcome == reports.Pass && len(c.Exchanges) == 0 {
			t.Errorf("%s on %s names no exchange", c.Requirement, c.Operation)
		}
	}
	if challenge != nil {
		g.Expect(recorded.Run.Seed).To(BeEquivalentTo(challenge.Seed()))
		g.Expect(text).NotTo(MatchRegexp(`\\"(name|email_subject)\\":\\"[^"]*conformance`), "a name shows who drew it")
		g.Expect(challenge.Explains(again.Recording)).To(Succeed())
		for pattern, what := range map[string]string{`("the state of [^"]*":)\[0\]`: "which no request does", `("provoked [^"]*":)\[1\]`: "for the first time"} {
			choice := map[bool]string{true: "${1}[2]", false: "${1}[0]"}[strings.Contains(pattern, "state")]
			forged, err := JudgeAgain(t.Context(), rewritten(t, file.Bytes(), pattern, choice), "test")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(forged.Results.Troubles).To(ContainElement(HaveField("What", ContainSubstring(what))))
			g.Expect(forged.Results.Verdict).NotTo(Equal(recorded.Verdict))
		}
		another := Challenge{Nonce: "another", Run: 2, Ordinary: true}
		g.Expect(another.Explains(again.Recording)).To(MatchError(ContainSubstring("does not follow from the nonce")))
		return
	}
	changed, err := JudgeAgain(t.Context(), rewritten(t, file.Bytes(), `"status":401`, `"status":403`), "test")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(outcomesOf(changed.Results)).To(HaveKeyWithValue(spec.AuthKeyUnknown.On(spec.ListLeadLabels), reports.Fail))
}

func outcomesOf(r reports.Results) map[spec.Pair]reports.Outcome {
	outcomes := map[spec.Pair]reports.Outcome{}
	for _, c := range r.Checks {
		outcomes[spec.Pair{Requirement: c.Requirement, Operation: c.Operation}] = c.Outcome
	}
	return outcomes
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

// rewritten returns the recording with one text in place of another one.
func rewritten(t *testing.T, recording []byte, pattern, replacement string) io.Reader {
	t.Helper()
	var out bytes.Buffer
	again := gzip.NewWriter(&out)
	if _, err := io.WriteString(again, regexp.MustCompile(pattern).ReplaceAllString(uncompressed(t, recording), replacement)); err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	return &out
}

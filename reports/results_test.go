package reports_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	"pgregory.net/rapid"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/reports/jsonfile"
	"outreach.example/conformance/reports/summary"
	"outreach.example/conformance/schemas/schematest"
)

func TestSamplesMeetTheSchema(t *testing.T) {
	s := schematest.Compiled(t, reports.Schema())
	for name, r := range map[string]reports.Results{"full": sample.Full(), "passed": sample.Passed(), "empty": sample.Empty()} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			body, err := jsonfile.Run.Encode(r)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(schematest.Findings(t, s, body)).To(BeEmpty())
		})
	}
}

func TestRandomResultsMeetTheSchemaAndComeBack(t *testing.T) {
	s := schematest.Compiled(t, reports.Schema())
	rapid.Check(t, func(t *rapid.T) {
		r := random(t)
		body, err := jsonfile.Run.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		if all := schematest.Findings(t, s, body); len(all) > 0 {
			t.Fatalf("the schema refuses: %v", all)
		}
		back, err := jsonfile.Run.Parse(body)
		if err != nil {
			t.Fatalf("Parse refuses what Encode wrote: %v", err)
		}
		again, err := jsonfile.Run.Encode(back)
		if err != nil {
			t.Fatal(err)
		}
		if string(again) != string(body) {
			t.Fatalf("came back as\n%s\nbut was\n%s", again, body)
		}
	})
}

func TestSchemaAndModelNameTheSameFields(t *testing.T) {
	// The first files of this version lack the count of responses without a verdict.
	schema := bytes.Replace(reports.Schema(), []byte(`"bytes_received",`), []byte(`"bytes_received", "unjudged",`), 1)
	types, _ := schematest.SameFields(t, schema, reflect.TypeFor[reports.Results](), nil)
	NewWithT(t).Expect(types).To(Equal(19), "types of the model that were compared")
}

func TestEncodeIsStable(t *testing.T) {
	g := NewWithT(t)
	r := sample.Full()
	first, err := jsonfile.Run.Encode(r)
	g.Expect(err).NotTo(HaveOccurred())

	turned := sample.Full()
	slices.Reverse(turned.Checks)
	slices.Reverse(turned.Observations)
	turned.Run.Started = turned.Run.Started.In(time.FixedZone("elsewhere", 3600))
	before := slices.Clone(turned.Checks)
	second, err := jsonfile.Run.Encode(turned)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(second)).To(Equal(string(first)))
	g.Expect(turned.Checks).To(Equal(before), "Encode must leave the caller's order alone")
}

func TestWriteReplacesWholeFiles(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "made", "for", "results.json")
	g.Expect(jsonfile.Run.Write(path, sample.Full())).To(Succeed())
	g.Expect(jsonfile.Run.Write(path, sample.Passed())).To(Succeed())

	back, err := jsonfile.Run.Read(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(back.Verdict).To(Equal(reports.Passed))
	entries, err := os.ReadDir(filepath.Dir(path))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(entries).To(HaveLen(1), "no temporary file stays behind")
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		verdict     reports.Verdict
		interrupted bool
		want        int
	}{
		{reports.Passed, false, 0},
		{reports.Failed, false, 1},
		{reports.Inconclusive, false, 3},
		{"something newer", false, 3},
		{reports.Inconclusive, true, 130},
		{reports.Failed, true, 130},
	} {
		r := reports.Results{Verdict: c.verdict, Run: reports.Run{Interrupted: c.interrupted}}
		if got := r.ExitCode(); got != c.want {
			t.Errorf("%s, interrupted %v: exit code %d, want %d", c.verdict, c.interrupted, got, c.want)
		}
	}
}

func TestCountLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checks := random(t).Checks
		if n := reports.Count(checks); n.Total() != len(checks) {
			t.Fatalf("%+v adds up to %d of %d checks", n, n.Total(), len(checks))
		}
	})
}

func TestCoverageCountsWhatWasAssessed(t *testing.T) {
	g := NewWithT(t)
	checks := []reports.Check{
		{Operation: "leads.move", Outcome: reports.Pass}, {Operation: "leads.move", Outcome: reports.ExpectedFailure},
		{Operation: "lead-lists.list", Outcome: reports.Fail}, {Operation: "campaigns.list", Outcome: reports.NotAssessed},
		{Operation: "members.list", Outcome: reports.Error},
	}
	g.Expect(summary.CoverageOf(checks).String()).To(MatchRegexp(`^2 of 18 operations · 1 of [0-9],[0-9]{3} checks passed, 1 not assessed$`))
	g.Expect(summary.CoverageOf(nil).String()).To(MatchRegexp(`^0 of 18 operations · 0 of [0-9],[0-9]{3} checks passed, 0 not assessed$`))
}

func TestEveryVerdictHasAWord(t *testing.T) {
	for verdict, word := range map[reports.Verdict]string{
		reports.Passed: "PASS", reports.Failed: "FAIL", reports.Inconclusive: "INCONCLUSIVE", "": "NO VERDICT",
	} {
		if got := verdict.Word(); got != word {
			t.Errorf("%q is shown as %q, want %q", verdict, got, word)
		}
	}
}

func TestBodyIsBounded(t *testing.T) {
	for length, want := range map[int]types.GomegaMatcher{
		reports.MaxBody:     Succeed(),
		reports.MaxBody + 1: MatchError(ContainSubstring("/violations/0/body: String length must be less than or equal to 2048")),
	} {
		r := sample.Full()
		i := slices.IndexFunc(r.Checks, func(c reports.Check) bool { return len(c.Violations) > 0 })
		r.Checks[i].Violations[0].Body = strings.Repeat("ä", length)
		_, err := jsonfile.Run.Parse([]byte(encoded(t, r)))
		NewWithT(t).Expect(err).To(want)
	}
}

package reports_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/internal/sample"
)

func encoded(t testing.TB, r reports.Results) string {
	t.Helper()
	body, err := reports.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestParseRefuses(t *testing.T) {
	swap := func(old, new string) func(string) string {
		return func(s string) string { return strings.Replace(s, old, new, 1) }
	}
	for name, c := range map[string]struct {
		damage func(string) string
		says   string
	}{
		"nothing":            {func(string) string { return "" }, "byte 0"},
		"half a file":        {func(s string) string { return s[:len(s)/2] }, "unexpected EOF"},
		"bytes after it":     {func(s string) string { return s + "{}" }, "after the end"},
		"another document":   {func(string) string { return "[]" }, "a JSON array, want an object"},
		"no version":         {swap(`"version": "3"`, `"versio": "2"`), "/version: missing"},
		"a load.json":        {func(string) string { return `{"version":"1","scenarios":[]}` }, "this is the load.json of load (want the results.json of run)"},
		"a part.json":        {func(string) string { return `{"version":"1","scenarios":[],"outcomes":[]}` }, "this is the part.json of load --shard (want"},
		"a difference.json":  {func(string) string { return `{"version":"1","parts":[]}` }, "this is the difference.json of report diff (want"},
		"an old version":     {swap(`"version": "3"`, `"version": "1"`), `the file has results model "1", this build reads "3"`},
		"an unknown field":   {swap(`"tool": {`, `"tool": {"colour": "red",`), "/tool/colour: unknown field"},
		"a missing field":    {swap(`"seed": 42,`, ``), "/run/seed: missing"},
		"another case":       {swap(`"seed"`, `"Seed"`), "/run/Seed: unknown field"},
		"a doubled field":    {swap(`"seed": 42,`, `"seed": 42, "seed": 43,`), "/run/seed: duplicate field"},
		"null":               {swap(`"seed": 42`, `"seed": null`), "/run/seed: null, want number"},
		"another type":       {swap(`"seed": 42`, `"seed": "42"`), "seed"},
		"null for a list":    {swap(`"troubles": []`, `"troubles": null`), "/troubles: null, want array"},
		"an unknown verdict": {swap(`"verdict": "pass"`, `"verdict": "fine"`), "/verdict"},
		"an unknown outcome": {swap(`"outcome": "pass"`, `"outcome": "maybe"`), "/checks/0/outcome"},
		"a hollow pass":      {swap(`"assessments": 3`, `"assessments": 0`), "/checks/0/assessments"},
		"a hollow failure":   {swap(`"outcome": "pass"`, `"outcome": "fail"`), "/checks/0/violations"},
		"a silent omission":  {swap(`"outcome": "pass"`, `"outcome": "not-assessed"`), "/checks/0/missing"},
		"a doubled check":    {swap(`"SHAPE-FIELD-02"`, `"SHAPE-FIELD-01"`), "SHAPE-FIELD-01 on phone-numbers.list: duplicate of /checks/"},
		"a reason to doubt":  {swap(`"reasons": []`, `"reasons": ["x"]`), "/reasons"},
		"a wrong count":      {swap(`"expected_failures": 0`, `"expected_failures": 1`), "/expected_failures: 1, but 0 checks"},
		"a worse pass":       {swap(`"expected_failures": 0`, `"expected_failures": 0, "regressions": ["x"]`), "/regressions: pass, but it is worse"},
		"an interrupted run": {swap(`"interrupted": false`, `"interrupted": true`), "/verdict"},
		"deep nesting":       {func(string) string { return strings.Repeat(`{"a":`, 5000) }, "deeper"},
		"invalid UTF-8":      {swap(`"Acme Outreach"`, "\"Acme\xff\""), "UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			before := encoded(t, sample.Passed())
			after := c.damage(before)
			if after == before {
				t.Fatal("the sample has nothing to damage in this way")
			}
			_, err := reports.Parse([]byte(after))
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(c.says)))
		})
	}
}

func TestParseBoundsItsErrors(t *testing.T) {
	r := sample.Passed()
	for i := range r.Checks {
		r.Checks[i].Level = "rumoured\x1b[31m"
	}
	_, err := reports.Parse([]byte(encoded(t, r)))
	g := NewWithT(t)
	g.Expect(err).To(HaveOccurred())
	g.Expect(strings.Count(err.Error(), "\n")).To(Equal(10))
	g.Expect(err.Error()).To(HaveSuffix("more"))
	g.Expect(err.Error()).NotTo(ContainSubstring("\x1b"))
}

func TestReadNamesTheFile(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "results.json")
	_, err := reports.Read(path)
	g.Expect(err).To(MatchError(os.ErrNotExist))

	g.Expect(os.WriteFile(path, []byte("{}"), 0o600)).To(Succeed())
	_, err = reports.Read(path)
	g.Expect(err).To(MatchError(And(HavePrefix(path), ContainSubstring("/version"))))
}

// A file that this version of the model has written. A later version must read it, or
// change ModelVersion and say how files are converted.
func TestReadAcceptsAFrozenFile(t *testing.T) {
	g := NewWithT(t)
	r, err := reports.Read("testdata/frozen/results.json")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Verdict).To(Equal(reports.Failed))
	g.Expect(reports.Count(r.Checks)).To(Equal(reports.Counts{Pass: 222, Fail: 2, Expected: 1, NotAssessed: 13}))
	g.Expect(r.ExpectedFailures).To(Equal(1))
	g.Expect(r.Observations).To(HaveLen(65))
	g.Expect(r.Traffic.Statuses).To(HaveKeyWithValue("429", 39))
}

func TestReadIsBounded(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "results.json")
	g.Expect(os.WriteFile(path, nil, 0o600)).To(Succeed())
	g.Expect(os.Truncate(path, reports.MaxSize+2)).To(Succeed())
	_, err := reports.Read(path)
	g.Expect(err).To(MatchError(ContainSubstring("more than 10485760 bytes: 10485762 ")))
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(encoded(f, sample.Passed())))
	f.Add([]byte(encoded(f, sample.Empty())))
	f.Add([]byte(`{"version":"1","VERSION":"1"}`))
	f.Add([]byte(`{"version":"1","tool":[[[[[[[[[[[[[[[[[[[`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := reports.Parse(body)
		if err != nil {
			return
		}
		again, err := reports.Encode(r)
		if err != nil {
			t.Fatalf("accepted, but has no JSON form: %v", err)
		}
		if _, err := reports.Parse(again); err != nil {
			t.Fatalf("accepted once, but not when written again: %v", err)
		}
	})
}

package reports_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/reports/jsonfile"
)

func encoded(t testing.TB, r reports.Results) string {
	t.Helper()
	body, err := jsonfile.Run.Encode(r)
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
		"nothing":            {func(string) string { return "" }, "not valid JSON: unexpected end"},
		"half a file":        {func(s string) string { return s[:len(s)/2] }, "not valid JSON: unexpected end"},
		"bytes after it":     {func(s string) string { return s + "{}" }, "not valid JSON: invalid character '{' after top-level value"},
		"another document":   {func(string) string { return "[]" }, "not valid JSON: json: cannot unmarshal array"},
		"no version":         {swap(`"version": "3"`, `"versio": "2"`), "/version: missing"},
		"a load.json":        {func(string) string { return `{"version":"1","scenarios":[]}` }, "this is the load.json of load (want the results.json of run)"},
		"a part.json":        {func(string) string { return `{"version":"1","scenarios":[],"outcomes":[]}` }, "this is the part.json of load --shard (want"},
		"a difference.json":  {func(string) string { return `{"version":"1","parts":[]}` }, "this is the difference.json of report diff (want"},
		"version 1":          {swap(`"version": "3"`, `"version": "1"`), `the file has version 1 of the model, this build reads 3 (the last that reads it is commit cc5c0cf01057)`},
		"version 2":          {swap(`"version": "3"`, `"version": "2"`), `(the last that reads it is commit d4545ecb5811)`},
		"a later version":    {swap(`"version": "3"`, `"version": "4"`), `the file has version "4" of the model, this build reads 3 (use the release`},
		"an unknown field":   {swap(`"tool": {`, `"tool": {"colour": "red",`), "\n/tool: Additional property colour is not allowed"},
		"a missing field":    {swap(`"seed": 42,`, ``), "\n/run: seed is required"},
		"another case":       {swap(`"seed"`, `"Seed"`), "/run: Additional property Seed is not allowed"},
		"null":               {swap(`"seed": 42`, `"seed": null`), "/run/seed: Invalid type. Expected: integer, given: null"},
		"another type":       {swap(`"seed": 42`, `"seed": "42"`), "/run/seed: Invalid type. Expected: integer, given: string"},
		"a number too large": {swap(`"seed": 42`, `"seed": 1e5000000`), "cannot unmarshal number 1e5000000"},
		"null for a list":    {swap(`"troubles": []`, `"troubles": null`), "/troubles: Invalid type"},
		"an unknown verdict": {swap(`"verdict": "pass"`, `"verdict": "fine"`), "/verdict"},
		"an unknown outcome": {swap(`"outcome": "pass"`, `"outcome": "maybe"`), "/checks/0/outcome"},
		"a hollow pass":      {swap(`"assessments": 3`, `"assessments": 0`), "/checks/0/assessments"},
		"a hollow failure":   {swap(`"outcome": "pass"`, `"outcome": "fail"`), "/checks/0: violations is required"},
		"a silent omission":  {swap(`"outcome": "pass"`, `"outcome": "not-assessed"`), "/checks/0: missing is required"},
		"a reason to doubt":  {swap(`"reasons": []`, `"reasons": ["x"]`), "/reasons"},
		"a worse pass":       {swap(`"expected_failures": 0`, `"expected_failures": 0, "regressions": ["x"]`), "/regressions"},
		"an interrupted run": {swap(`"interrupted": false`, `"interrupted": true`), "/interrupted"},
		"deep nesting":       {func(string) string { return strings.Repeat(`{"a":`, 50000) }, "exceeded max depth"},
		"invalid UTF-8":      {swap(`"Acme Outreach"`, "\"Acme\xff\""), "UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			before := encoded(t, sample.Passed())
			after := c.damage(before)
			if after == before {
				t.Fatal("the sample has nothing to damage in this way")
			}
			_, err := jsonfile.Run.Parse([]byte(after))
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(c.says)))
		})
	}
}

func TestParseBoundsItsErrors(t *testing.T) {
	r := sample.Passed()
	for i := range r.Checks {
		r.Checks[i].Level = "rumoured\x1b[31m"
	}
	_, err := jsonfile.Run.Parse([]byte(encoded(t, r)))
	g := NewWithT(t)
	g.Expect(err).To(HaveOccurred())
	g.Expect(strings.Count(err.Error(), "\n")).To(Equal(11))
	g.Expect(err.Error()).To(HaveSuffix("more"))
	g.Expect(err.Error()).NotTo(ContainSubstring("\x1b"))
}

func TestReadNamesTheFile(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "results.json")
	_, err := jsonfile.Run.Read(path)
	g.Expect(err).To(MatchError(os.ErrNotExist))

	g.Expect(os.WriteFile(path, []byte("{}"), 0o600)).To(Succeed())
	_, err = jsonfile.Run.Read(path)
	g.Expect(err).To(MatchError(And(HavePrefix(path), ContainSubstring("/version"))))
}

// A file that this version of the model has written. A later version must read it, or
// change ModelVersion and say how files are converted.
func TestReadAcceptsAFrozenFile(t *testing.T) {
	g := NewWithT(t)
	r, err := jsonfile.Run.Read("testdata/frozen/results.json")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Verdict).To(Equal(reports.Failed))
	g.Expect(reports.Count(r.Checks)).To(Equal(reports.Counts{Pass: 222, Fail: 2, Expected: 1, NotAssessed: 13}))
	g.Expect(r.ExpectedFailures).To(Equal(1))
	g.Expect(r.Observations).To(HaveLen(65))
	g.Expect(r.Traffic.Statuses).To(HaveKeyWithValue("429", 39))
}

// The first files of this version lack the count of responses without a verdict.
func TestReadAcceptsTheFirstFilesOfTheVersion(t *testing.T) {
	body := encoded(t, sample.Full())
	first := strings.Replace(body, ",\n    \"unjudged\": 0", "", 1)
	NewWithT(t).Expect(first).NotTo(Equal(body))
	_, err := jsonfile.Run.Parse([]byte(first))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
}

func TestReadIsBounded(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "results.json")
	g.Expect(os.WriteFile(path, nil, 0o600)).To(Succeed())
	g.Expect(os.Truncate(path, reports.MaxSize+2)).To(Succeed())
	_, err := jsonfile.Run.Read(path)
	g.Expect(err).To(MatchError(ContainSubstring("more than 10485760 bytes: 10485762 ")))
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(encoded(f, sample.Passed())))
	f.Add([]byte(encoded(f, sample.Empty())))
	f.Add([]byte(`{"version":"1","VERSION":"1"}`))
	f.Add([]byte(`{"version":"1","tool":[[[[[[[[[[[[[[[[[[[`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := jsonfile.Run.Parse(body)
		if err != nil {
			return
		}
		again, err := jsonfile.Run.Encode(r)
		if err != nil {
			t.Fatalf("accepted, but has no JSON form: %v", err)
		}
		if _, err := jsonfile.Run.Parse(again); err != nil {
			t.Fatalf("accepted once, but not when written again: %v", err)
		}
	})
}

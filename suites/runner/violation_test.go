package runner

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/jsonfile"
	"outreach.example/conformance/reports/view"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
	"outreach.example/conformance/suites/selftest/faults"
)

// spoilers are wrong things that a server does, and how each must be reported.
var spoilers = []struct {
	operation                              string
	spoil                                  func(answer *http.Response, row map[string]any)
	requirement, pointer, expected, actual string
}{
	{spec.ListPhoneNumbers, func(_ *http.Response, row map[string]any) { delete(row, "phone_number") },
		"SHAPE-PHONE_NUMBER-PHONE_NUMBER-PRESENT", `^/\d+/phone_number$`, "a string", "absent"},
	{spec.ListPlacementTests, func(_ *http.Response, row map[string]any) { row["metadata"] = map[string]any{"tags": []any{}} },
		"META-ELSEWHERE", `^/items/\d+/metadata$`, "absent", "tags"},
	{spec.ListLeadLists, func(answer *http.Response, _ map[string]any) { answer.Header.Set("Content-Type", "text/html") },
		contentType, `^header:Content-Type$`, "application/json", `"text/html"`},
}

// Each wrong thing is charged to its requirement on its operation, and to nothing else, with all
// that it takes to understand it and see it again.
func TestWrongThingsAreChargedApart(t *testing.T) {
	g, server := NewWithT(t), embedded(t)
	main := "Bearer " + tokenOf(server, dataset.Main)
	results := judged(t, t.Context(), Config{Target: server, Selection: Selection{Operations: []string{"*.list"}, Groups: []string{"shape", "pages", "state", "errors"}},
		Transport: changing(func(r *http.Request, answer *http.Response, body any) any {
			for _, s := range spoilers {
				if asks(r, s.operation) && r.Header.Get("Authorization") == main {
					for _, row := range spec.MustOperation(s.operation).Rows(body) {
						s.spoil(answer, row)
					}
				}
			}
			return body
		})})
	g.Expect(results.ExitCode()).To(Equal(1))
	names := map[string]bool{}
	for _, s := range suites.Tree.Specs() {
		names[s.Name()] = true
	}
	var want []string
	for _, s := range spoilers {
		want = append(want, s.requirement+" on "+s.operation)
		requirement, _ := spec.FindRequirement(s.requirement)
		at := slices.IndexFunc(results.Checks, func(c reports.Check) bool { return c.Requirement == s.requirement && c.Operation == s.operation })
		shown := results.Checks[at].Violations[0].Exchange
		g.Expect(shown).NotTo(BeNil(), "the first example of a cause has its exchange")
		g.Expect(shown.Request.Line).To(HavePrefix("GET /api/v2/"))
		g.Expect(shown.Request.Headers).To(ContainElement("Authorization: Bearer $OUTREACH_KEY_MAIN"))
		g.Expect(shown.Response.Line).To(Equal("200 OK"))
		g.Expect(shown.Response.Bytes).To(BeNumerically(">", 0))
		for _, v := range results.Checks[at].Violations {
			g.Expect(v.Statement).To(Equal(requirement.Statement))
			g.Expect(v.Section).To(Equal(requirement.Section))
			g.Expect(names).To(HaveKey(v.Spec), "which spec saw it")
			g.Expect(v.Pointer).To(MatchRegexp(s.pointer))
			g.Expect(v.Expected).To(ContainSubstring(s.expected))
			g.Expect(v.Actual).To(ContainSubstring(s.actual))
			g.Expect(v.Curl).To(And(HavePrefix("curl "), ContainSubstring("$OUTREACH_KEY_MAIN"), ContainSubstring(`"$OUTREACH_URL`+spec.MustOperation(s.operation).Path)))
		}
	}
	g.Expect(of(results, reports.Fail)).To(ConsistOf(want))
}

// defective serves the reference service with a defect that breaks just the pair.
func defective(t *testing.T, breaks spec.Pair) *target.Target {
	t.Helper()
	data, err := dataset.New(dataset.Options{Seed: 1, Rows: *rows})
	if err != nil {
		t.Fatal(err)
	}
	server, err := refserver.New(data, refserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all, known := faults.Defects(), profile.FromDataset(data)
	d := all[slices.IndexFunc(all, func(d faults.Defect) bool { return d.Breaks == breaks })]
	listening := httptest.NewServer(faults.Listening(d.Apply(&faults.Target{Profile: known, Seed: 1})(faults.Serving(server.Handler()))))
	t.Cleanup(listening.Close)
	on, err := target.URL(known, listening.URL)
	if err != nil {
		t.Fatal(err)
	}
	return on
}

// The line of a failure sends what led to it: without that, it would not show the failure.
func TestLinesSendWhatLedToTheFailure(t *testing.T) {
	const move = `-X POST -H "Authorization: Bearer $OUTREACH_KEY_LIMITED" -H 'Content-Type: application/json' --data-raw '{"destination_workspace_id"`
	for _, test := range []struct {
		breaks spec.Pair
		sends  []string // in this order
	}{
		{spec.StateDeleteList.On(spec.DeletePlacementTest), []string{"id=$(curl -sS -X POST", "-X DELETE", "/inbox-placement-tests/$id", "/inbox-placement-tests?limit="}},
		{spec.RateNoEffect.On(spec.MoveAccounts), []string{move, move, "*429*) break;; esac; done; curl -i " + move, "; sleep 120; curl -i " + move}},
		{spec.ID("ERROR-429-STATUSCODE").On(spec.ListLeadLists), []string{"; for n in ", `-H "Authorization: Bearer $OUTREACH_KEY_LIMITED" "$OUTREACH_URL/api/v2/lead-lists?limit=1#[1-50]"`}},
	} {
		t.Run(test.breaks.Requirement, func(t *testing.T) {
			g := NewWithT(t)
			results := judged(t, t.Context(), Config{Target: defective(t, test.breaks),
				Selection: Selection{Requirements: []string{test.breaks.Requirement}, Operations: []string{test.breaks.Operation}}})
			at := slices.IndexFunc(results.Checks, func(c reports.Check) bool { return c.Outcome == reports.Fail })
			g.Expect(at).NotTo(Equal(-1), "the defect was not seen")
			line := results.Checks[at].Violations[0].Curl
			rest := line
			for _, part := range test.sends {
				_, after, found := strings.Cut(rest, part)
				g.Expect(found).To(BeTrue(), "%s\nlacks %q", line, part)
				rest = after
			}
		})
	}
}

// Whatever a target says, no token of the profile gets into anything that a person reads, nor so
// much of its beginning that it could be told.
func TestNoTokenIsShown(t *testing.T) {
	g, server, dir := NewWithT(t), embedded(t), t.TempDir()
	n := 0
	results := judged(t, t.Context(), Config{Target: described(server, func(p *profile.Profile) { p.Pace.Concurrency = 1 }), JournalDir: dir,
		Selection: Selection{Operations: []string{spec.ListPhoneNumbers, spec.GetPlacementTest, spec.CreatePlacementTest}, Groups: []string{"shape", "state", "errors", "keys"}},
		Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			answer, err := http.DefaultTransport.RoundTrip(r)
			sent := r.Header.Get("Authorization")
			_, token, _ := strings.Cut(sent, " ")
			if err != nil || token == "" {
				return answer, err
			}
			n++ // what cuts words off cuts through the key somewhere
			said := strings.Repeat("x", n%180) + " " + []string{sent, token, url.QueryEscape("k=" + sent), base64.StdEncoding.EncodeToString([]byte("key:" + token)),
				base64.RawURLEncoding.EncodeToString([]byte(token))}[n%5]
			if n%3 == 0 {
				answer.Header.Set("Content-Type", "text/html; key="+said)
			}
			return answer, rewrite(answer, func(body any) any {
				switch body := body.(type) {
				case map[string]any:
					body["message"], body["status"], body[said] = said, []any{said}, 1
				case []any:
					return append(body, said)
				}
				return body
			})
		})})
	g.Expect(results.Verdict).To(Equal(reports.Failed))
	g.Expect(jsonfile.Run.Write(filepath.Join(dir, "results.json"), results)).To(Succeed())
	g.Expect(view.Formats["junit"].Run.Write(filepath.Join(dir, "junit.xml"), results)).To(Succeed())
	shown := map[string]string{}
	for _, verbose := range []bool{false, true} {
		var page bytes.Buffer
		g.Expect(view.Formats["console"].Run(&page, results, view.Options{Verbose: verbose})).To(Succeed())
		shown[fmt.Sprintf("the console, verbose %t", verbose)] = page.String()
	}
	files, err := os.ReadDir(dir)
	g.Expect(err).NotTo(HaveOccurred())
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(dir, file.Name()))
		g.Expect(err).NotTo(HaveOccurred())
		shown[file.Name()] = string(text)
	}
	g.Expect(json.Valid([]byte(shown["results.json"]))).To(BeTrue())
	g.Expect(shown["results.json"]).To(And(ContainSubstring("$OUTREACH_KEY_MAIN"), ContainSubstring("[redacted]…")), "keys were cut off")
	testbed.HoldsNoKey(t, server.Profile.Keys, shown)
}

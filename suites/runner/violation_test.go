package runner

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/jsonfile"
	"outreach.example/conformance/reports/view"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
)

// unhurried leaves out the profile that waits for a rate limit to pass.
func unhurried() Selection {
	var s Selection
	for _, p := range spec.Profiles() {
		if p != spec.ProfileFull && p != spec.ProfileRateLimit {
			s.Profiles = append(s.Profiles, p)
		}
	}
	return s
}

// spoiler is one wrong thing that a server does, and how it must be reported.
type spoiler struct {
	operation                    string
	spoil                        func(answer *http.Response, rows []any)
	requirement                  string
	pointer, expected, got, curl string
}

var spoilers = []spoiler{
	{spec.ListPhoneNumbers, func(_ *http.Response, rows []any) {
		for _, row := range rows {
			delete(row.(map[string]any), "phone_number")
		}
	}, "SHAPE-PHONE_NUMBER-PHONE_NUMBER-PRESENT", `^/\d+/phone_number$`, "a string", "absent",
		`curl -i -H "Authorization: Bearer $OUTREACH_KEY_MAIN" "$OUTREACH_URL/api/v2/crm-actions/phone-numbers`},
	{spec.ListPlacementTests, func(_ *http.Response, rows []any) {
		for _, row := range rows {
			row.(map[string]any)["metadata"] = map[string]any{"tags": []any{}}
		}
	}, "META-ELSEWHERE", `^/items/\d+/metadata$`, "absent", "tags", `"$OUTREACH_URL/api/v2/inbox-placement-tests`},
	{spec.ListLeadLists, func(answer *http.Response, _ []any) {
		answer.Header.Set("Content-Type", "text/html")
	}, "CONTENT-TYPE", `^header:Content-Type$`, "application/json", `"text/html"`, `"$OUTREACH_URL/api/v2/lead-lists`},
}

// spoiled is a way to a target that does all of that to the key of the token,
// and nothing to others.
func spoiled(token string) roundTripper {
	return func(r *http.Request) (*http.Response, error) {
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err != nil || answer.StatusCode != http.StatusOK || r.Header.Get("Authorization") != "Bearer "+token {
			return answer, err
		}
		for _, s := range spoilers {
			if op := spec.MustOperation(s.operation); r.Method == op.Method && r.URL.Path == op.Path {
				err = rewrite(answer, func(body any) any {
					rows, isArray := body.([]any)
					if page, ok := body.(map[string]any); ok && !isArray {
						rows, _ = page["items"].([]any)
					}
					s.spoil(answer, rows)
					return body
				})
			}
		}
		return answer, err
	}
}

// rewrite changes a JSON body.
func rewrite(answer *http.Response, change func(any) any) error {
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var body any
	if err := decoder.Decode(&body); err != nil {
		return err
	}
	if text, err = json.Marshal(change(body)); err != nil {
		return err
	}
	if err := answer.Body.Close(); err != nil {
		return err
	}
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	answer.Header.Del("Content-Length")
	return nil
}

// Each wrong thing is charged to its requirement on its operation, and to
// nothing else, with all that it takes to understand it and see it again.
func TestWrongThingsAreChargedApart_long(t *testing.T) {
	g := NewWithT(t)
	server := embedded(t)
	key, _ := server.Profile.FullKey(dataset.Main)
	results := judged(t, t.Context(), Config{Target: server, Selection: unhurried(), Transport: spoiled(key.Token)})
	g.Expect(results.Verdict).To(Equal(reports.Failed))
	g.Expect(results.ExitCode()).To(Equal(1))
	g.Expect(of(results, reports.Error)).To(BeEmpty())
	var want []string
	for _, s := range spoilers {
		want = append(want, s.requirement+" on "+s.operation)
	}
	g.Expect(of(results, reports.Fail)).To(ConsistOf(want))
	g.Expect(results.Requests).To(ContainElement(And(HaveField("Operation", spec.ListLeadLists), HaveField("Allowed", "200"),
		HaveField("Sent", BeNumerically(">", 0)), HaveField("Accepted", BeNumerically(">", 0)))))
	g.Expect(results.Requests).To(ContainElement(And(HaveField("Operation", spec.ListLeadLists), HaveField("Allowed", "401"), HaveField("Accepted", 0))))
	// Specs run at the same time, and those of other operations walk lists too:
	// any of them may be the first to see what is wrong with one.
	specs := map[string]bool{}
	for _, s := range suites.Tree.Specs() {
		specs[s.Name()] = true
	}
	for _, s := range spoilers {
		requirement, _ := spec.FindRequirement(s.requirement)
		at := slices.IndexFunc(results.Checks, func(c reports.Check) bool {
			return c.Requirement == s.requirement && c.Operation == s.operation
		})
		shown := results.Checks[at].Violations[0].Exchange
		g.Expect(shown).NotTo(BeNil(), "the first example of a cause has its exchange")
		g.Expect(shown.Request.Line).To(HavePrefix("GET /api/v2/"))
		g.Expect(shown.Request.Headers).To(ContainElement("Authorization: Bearer $OUTREACH_KEY_MAIN"))
		g.Expect(shown.Response.Line).To(Equal("200 OK"))
		g.Expect(shown.Response.Headers).To(ContainElements(HavePrefix("Content-Type: "), HavePrefix("Date: ")))
		g.Expect(shown.Response.Bytes).To(BeNumerically(">", 0))
		for _, v := range results.Checks[at].Violations {
			g.Expect(v.Statement).To(Equal(requirement.Statement))
			g.Expect(v.Section).To(Equal(requirement.Section))
			g.Expect(specs).To(HaveKey(v.Spec), "which spec saw it")
			g.Expect(v.Pointer).To(MatchRegexp(s.pointer))
			g.Expect(v.Expected).To(ContainSubstring(s.expected))
			g.Expect(v.Actual).To(ContainSubstring(s.got))
			g.Expect(v.Curl).To(And(HavePrefix("curl "), ContainSubstring(s.curl), ContainSubstring("$OUTREACH_KEY_MAIN")))
		}
	}
}

// What is wrong with an answer beyond the rate limit comes with a line that meets
// the limit: the request alone would be served.
func TestWhatIsWrongBeyondTheLimitIsSeenAgain(t *testing.T) {
	g := NewWithT(t)
	misshapen := roundTripper(func(r *http.Request) (*http.Response, error) {
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err != nil || answer.StatusCode != http.StatusTooManyRequests {
			return answer, err
		}
		return answer, rewrite(answer, func(any) any { return map[string]any{} })
	})
	results := judged(t, t.Context(), Config{Target: embedded(t), Transport: misshapen,
		Selection: Selection{Requirements: []string{"ERROR-429-STATUSCODE"}, Operations: []string{spec.ListLeadLists}}})
	g.Expect(of(results, reports.Fail)).To(ConsistOf("ERROR-429-STATUSCODE on " + spec.ListLeadLists))
	for _, c := range results.Checks {
		for _, v := range c.Violations {
			g.Expect(v.Curl).To(And(ContainSubstring("; for n in "), ContainSubstring(`-H "Authorization: Bearer $OUTREACH_KEY_LIMITED" "$OUTREACH_URL/api/v2/lead-lists?limit=1#[1-50]"`)))
		}
	}
}

// leaking is a way to a target that repeats every key it is sent, in every form.
func leaking(r *http.Request) (*http.Response, error) {
	answer, err := http.DefaultTransport.RoundTrip(r)
	sent := r.Header.Get("Authorization")
	_, token, _ := strings.Cut(sent, " ")
	if err != nil || token == "" {
		return answer, err
	}
	said := strings.Join([]string{sent, base64.StdEncoding.EncodeToString([]byte("key:" + token)), url.QueryEscape(sent)}, " or ")
	answer.Header.Set("Content-Type", "text/html; key="+token)
	return answer, rewrite(answer, func(body any) any {
		switch body := body.(type) {
		case map[string]any:
			body["message"] = said // in an error, where the observations have it
			body["status"] = []any{said}
			body[token] = 1
		case []any:
			return append(body, said)
		}
		return body
	})
}

// Whatever a target says, no token of the profile gets into anything that a
// person reads.
func TestNoTokenIsShown_long(t *testing.T) {
	g := NewWithT(t)
	server := embedded(t)
	talkative := unhurried()
	talkative.Operations = []string{spec.ListPhoneNumbers, spec.ListLeadLists, spec.GetPlacementTest, spec.CreatePlacementTest}
	results := judged(t, t.Context(), Config{Target: server, Selection: talkative, Transport: roundTripper(leaking)})
	g.Expect(results.Verdict).To(Equal(reports.Failed))
	dir := t.TempDir()
	g.Expect(jsonfile.Run.Write(filepath.Join(dir, "results.json"), results)).To(Succeed())
	g.Expect(view.Formats["junit"].Run.Write(filepath.Join(dir, "junit.xml"), results)).To(Succeed())
	shown := map[string]string{}
	for _, name := range []string{"results.json", "junit.xml"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		g.Expect(err).NotTo(HaveOccurred())
		shown[name] = string(text)
	}
	for _, verbose := range []bool{false, true} {
		var page bytes.Buffer
		g.Expect(view.Formats["console"].Run(&page, results, view.Options{Verbose: verbose})).To(Succeed())
		shown["console, verbose "+map[bool]string{true: "on", false: "off"}[verbose]] = page.String()
	}
	for name, text := range shown {
		g.Expect(text).To(ContainSubstring("$OUTREACH_KEY_MAIN"), "%s has what the target said", name)
		for _, k := range server.Profile.Keys {
			for _, form := range forms(k.Token) {
				if strings.Contains(text, form) {
					t.Fatalf("%s shows the token of %s, as %s", name, k.Name, form)
				}
			}
		}
	}
}

// forms are the token plain, percent-encoded, and inside base64 at each offset.
func forms(token string) []string {
	all := []string{token, url.QueryEscape(token)}
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for offset := range 3 {
			text := encoding.EncodeToString(append(make([]byte, offset), token...))
			all = append(all, text[4:len(text)-4])
		}
	}
	return all
}

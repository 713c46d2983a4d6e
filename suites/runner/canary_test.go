package runner

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/jsonfile"
	"outreach.example/conformance/reports/view"
	"outreach.example/conformance/spec"
)

// parrot is a way to a target that repeats the key of every request wherever it
// has something to say, in forms and behind paddings that change from answer to
// answer, so that whatever cuts its words off cuts through the key.
func parrot() roundTripper {
	var answers atomic.Int64
	return func(r *http.Request) (*http.Response, error) {
		answer, err := http.DefaultTransport.RoundTrip(r)
		sent := r.Header.Get("Authorization")
		_, token, _ := strings.Cut(sent, " ")
		if err != nil || token == "" {
			return answer, err
		}
		n := int(answers.Add(1))
		said := []string{sent, token, url.QueryEscape("k=" + sent), base64.StdEncoding.EncodeToString([]byte("key:" + token)),
			base64.RawURLEncoding.EncodeToString([]byte(token))}[n%5]
		said = strings.Repeat("x", n%180) + " " + said
		if n%3 == 0 {
			answer.Header.Set("Content-Type", "text/html; said=\""+said+"\"")
		}
		if n%7 == 0 {
			answer.StatusCode = http.StatusTeapot
		}
		return answer, rewrite(answer, func(body any) any { return parroted(body, said, n) })
	}
}

// parroted puts what is said into one kind of place of a body: n says which.
func parroted(value any, said string, n int) any {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			switch member.(type) {
			case map[string]any, []any:
				value[name] = parroted(member, said, n)
			case string:
				if n%4 == 0 || name == "message" {
					value[name] = said
				}
			default:
				if n%4 == 1 {
					value[name] = said
				}
			}
		}
		if n%4 == 2 {
			value[said] = []any{said}
		}
	case []any:
		for i, item := range value {
			value[i] = parroted(item, said, n)
		}
		if n%4 == 3 {
			return append(value, said)
		}
	}
	return value
}

// No artefact of a run, nor of the cleanup after it, holds a token of the
// profile or so much of its beginning that it could be told, whatever the
// target says.
func TestCanary_long(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	server := embedded(t)
	dir := t.TempDir()
	// One operation of each kind: to repeat a key everywhere teaches no more.
	talkative := unhurried()
	talkative.Operations = []string{spec.MoveLead, spec.CreatePlacementTest, spec.GetPlacementTest, spec.DeletePlacementTest, spec.ListLeadLabels, spec.ListPhoneNumbers}
	results := judged(t, t.Context(), Config{Target: server, Selection: talkative, Transport: parrot(), JournalDir: dir})
	g.Expect(results.Verdict).To(Equal(reports.Failed))
	g.Expect(jsonfile.Run.Write(filepath.Join(dir, "results.json"), results)).To(Succeed())
	g.Expect(view.Formats["junit"].Run.Write(filepath.Join(dir, "junit.xml"), results)).To(Succeed())
	shown := map[string]string{}
	for _, verbose := range []bool{false, true} {
		var page bytes.Buffer
		g.Expect(view.Formats["console"].Run(&page, results, view.Options{Verbose: verbose})).To(Succeed())
		shown[fmt.Sprintf("the console, verbose %t", verbose)] = page.String()
	}
	done, err := sandbox.Cleanup(t.Context(), testbed.Client(t, server), server.Profile, dir, nil)
	shown["cleanup"] = fmt.Sprint(done, err)
	files, err := os.ReadDir(dir)
	g.Expect(err).NotTo(HaveOccurred())
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(dir, file.Name()))
		g.Expect(err).NotTo(HaveOccurred())
		shown[file.Name()] = string(text)
	}
	g.Expect(shown["results.json"]).To(ContainSubstring("[redacted]…"), "keys were cut off")
	testbed.HoldsNoKey(t, server.Profile.Keys, shown)
}

package runner

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"slices"
	"strings"
	"testing"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/reports"
)

// A pass says that answers were held against the specification. Where most of
// them could not be, it is none, and says why.
func TestAnswersThatCannotBeReadAreNoPass(t *testing.T) {
	t.Parallel()
	large := bytes.Repeat([]byte(" "), client.DefaultMaxBody+1)
	for name, tc := range map[string]struct {
		does http.HandlerFunc
		says string
	}{
		"compressed": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write([]byte(`{"items":[]}`))
			_ = z.Close()
		}, "40 were compressed despite Accept-Encoding: identity (turn compression off in the server or proxy)"},
		"too large": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(large) },
			"40 had a body larger than the limit of 8 MiB (request smaller pages with --page-size)"},
		"broken off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte(`{"items":[`))
		}, "40 were incomplete or timed out"},
	} {
		t.Run(name, inFakeTime(func(t *testing.T) {
			o := Run(t.Context(), world(t, fromTheSecond(tc.does)), threePhases(t))
			want := "40 of 60 answers could not be checked: " + tc.says
			if o.Verdict == reports.Passed || !slices.Contains(o.Reasons, want) {
				t.Errorf("%s: %q; want %q", o.Verdict, o.Reasons, want)
			}
		}))
	}
}

// Where not one could be, the reason is the same.
func TestNoAnswerThatCanBeRead(t *testing.T) {
	inFakeTime(func(t *testing.T) {
		compressed := func(http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", "gzip")
				_, _ = w.Write([]byte("no matter"))
			})
		}
		o := Run(t.Context(), world(t, compressed), threePhases(t))
		if told := strings.Join(o.Reasons, "\n"); o.Verdict != reports.Inconclusive || !strings.Contains(told, "none of 60 answers could be checked: 60 were compressed") {
			t.Errorf("%s: %s", o.Verdict, told)
		}
	})(t)
}

package scenario

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"slices"
	"strings"
	"testing"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/reports/load"
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
		}, "40 came compressed (Content-Encoding) though requests ask for Accept-Encoding: identity: let the server, or what stands before it, send them as they are"},
		"too large": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(large) },
			"40 had a body larger than 8 MiB, the most that is read: ask for smaller pages with --limit"},
		"broken off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte(`{"items":[`))
		}, "40 broke off or were not there in time"},
	} {
		t.Run(name, func(t *testing.T) {
			o := Run(t.Context(), world(t, fromTheSecond(tc.does)), threePhases(t))
			want := "40 of 60 answers could not be held against the specification: " + tc.says
			if o.Verdict == load.Pass || !slices.Contains(o.Reasons, want) {
				t.Errorf("%s: %q; want %q", o.Verdict, o.Reasons, want)
			}
		})
	}
}

// Where not one could be, the reason is the same.
func TestNoAnswerThatCanBeRead(t *testing.T) {
	t.Parallel()
	compressed := func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write([]byte("no matter"))
		})
	}
	o := Run(t.Context(), world(t, compressed), threePhases(t))
	if told := strings.Join(o.Reasons, "\n"); o.Verdict != load.Void || !strings.Contains(told, "of 60 answers not one could be held against the specification: 60 came compressed") {
		t.Errorf("%s: %s", o.Verdict, told)
	}
}

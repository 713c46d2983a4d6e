package scenario

import (
	"compress/gzip"
	"net/http"
	"strings"
	"testing"

	"outreach.example/conformance/reports/load"
)

// A pass says that answers were held against the specification. Where most of
// them could not be, it is none.
func TestAnswersThatCannotBeReadAreNoPass(t *testing.T) {
	t.Parallel()
	compressed := fromTheSecond(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = z.Write([]byte(`{"items":[]}`))
		_ = z.Close()
	})
	o := Run(t.Context(), world(t, compressed), threePhases(t))
	if reasons := strings.Join(o.Reasons, "\n"); o.Verdict != load.Void || !strings.Contains(reasons, "40 of 60 answers could not be held against the specification") {
		t.Errorf("%s: %s; %+v", o.Verdict, reasons, o.Coverage)
	}
}

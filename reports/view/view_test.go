package view_test

import (
	"bytes"
	"testing"
	"unicode/utf8"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/diff"
	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/view"
)

// Each format shows results of each kind, however full or hostile, and shows equal results
// alike.
func TestEachFormatShowsAnyResults(t *testing.T) {
	for name, f := range view.Formats {
		t.Run(name, func(t *testing.T) {
			for _, r := range []reports.Results{sample.Full(), sample.Passed(), sample.Empty()} {
				shows(t, f.Run, r)
			}
			for _, r := range []load.Results{sample.FullLoad(), hostileLoad(), sample.PassedLoad(), sample.EmptyLoad()} {
				shows(t, f.Load, r)
			}
			shows(t, f.Difference, diff.Join(reports.Tool{Name: "t"}, diff.Runs("a", sample.Passed(), "b", sample.Full())))
		})
	}
}

func shows[T any](t *testing.T, show view.View[T], results T) {
	t.Helper()
	if show == nil {
		return
	}
	first, err := rendered(show, results)
	if err != nil {
		t.Fatal(err)
	}
	again, err := rendered(show, results)
	if err != nil || !bytes.Equal(first, again) {
		t.Errorf("equal results are shown in two ways (%v)", err)
	}
	if !utf8.Valid(first) || bytes.ContainsAny(first, "\x1b\x00") {
		t.Error("the view has raw bytes of a target")
	}
}

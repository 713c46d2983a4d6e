package main

import (
	"errors"
	"testing"

	. "github.com/onsi/gomega"
)

// What goes wrong at the end makes no pass of anything, and hides no failure: who
// tries again whatever could not be told must not try a server again that failed.
func TestEndOfACommand(t *testing.T) {
	trouble := errors.New("some changes could not be rolled back")
	for name, tc := range map[string]struct {
		code    int
		failed  error
		summary error
		want    int
	}{
		"all is well":             {0, nil, nil, 0},
		"a pass with trouble":     {0, trouble, nil, exitCannotTell},
		"a pass without summary":  {0, nil, trouble, exitCannotTell},
		"a failure with trouble":  {1, trouble, nil, 1},
		"a failure without words": {1, nil, trouble, 1},
		"interrupted":             {exitInterrupted, trouble, nil, exitInterrupted},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			shown := -1
			err := end(tc.code, tc.failed, func(code int) error {
				shown = code
				return tc.summary
			})
			if tc.want == 0 {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			var exit exitError
			g.Expect(errors.As(err, &exit)).To(BeTrue())
			g.Expect(exit.code).To(Equal(tc.want))
			if tc.summary == nil {
				g.Expect(shown).To(Equal(tc.want), "what the summary says")
			}
			if tc.failed != nil || tc.summary != nil {
				g.Expect(err).To(MatchError(trouble), "it is told all the same")
			}
		})
	}
}

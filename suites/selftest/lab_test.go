package selftest

import (
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
)

// Each subject has a complete profile, also while others come up. The race detector sees more.
func TestSubjectsComeUpAtTheSameTime(t *testing.T) {
	source := Embedded(5)
	var all errgroup.Group
	for range 4 {
		all.Go(func() error {
			s, err := source(t.Context())
			if err == nil && s.profile.VisibleWithin != visibility {
				t.Errorf("visible within %s", s.profile.VisibleWithin)
			}
			return err
		})
	}
	NewWithT(t).Expect(all.Wait()).To(Succeed())
}

package generate

import (
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gstruct"
	"github.com/onsi/gomega/types"
)

// When nothing was answered is told, where enough requests had no answer for it.
func TestSilencesAreTold(t *testing.T) {
	const lasts = 10 * time.Second
	within := func(spans ...time.Duration) func(time.Duration) bool { // from, to, from, to
		return func(at time.Duration) (dead bool) {
			for i := 0; i < len(spans); i += 2 {
				dead = dead || at >= spans[i] && at < spans[i+1]
			}
			return dead
		}
	}
	about := func(at time.Duration) types.GomegaMatcher { return BeNumerically("~", at, 100*time.Millisecond) }
	died := gstruct.PointTo(And(HaveField("From", about(6*time.Second)), HaveField("Unanswered", BeEquivalentTo(80))))
	for name, tc := range map[string]struct {
		dead     func(at time.Duration) bool
		ended    int
		from, to time.Duration // of the longest that is over
		last     types.GomegaMatcher
	}{
		"answers all":        {within(), 0, 0, 0, BeNil()},
		"dies":               {within(6*time.Second, lasts), 0, 0, 0, died},
		"dies at its end":    {within(lasts-220*time.Millisecond, lasts), 0, 0, 0, BeNil()},
		"comes back":         {within(3*time.Second, 7*time.Second), 1, 3 * time.Second, 7 * time.Second, BeNil()},
		"begins late":        {within(0, 4*time.Second), 1, 0, 4 * time.Second, BeNil()},
		"more than once":     {within(0, 2*time.Second, 4*time.Second, 7*time.Second), 2, 4 * time.Second, 7 * time.Second, BeNil()},
		"comes back to die":  {within(2*time.Second, 5*time.Second, 6*time.Second, lasts), 1, 2 * time.Second, 5 * time.Second, died},
		"never answers":      {within(0, lasts), 0, 0, 0, BeNil()},
		"stalls for a while": {within(3*time.Second, 3*time.Second+220*time.Millisecond), 0, 0, 0, BeNil()},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				var told Silences
				p := constant(20, lasts)
				p.Silences = func(s Silences) { told = s }
				n := &network{answer: mute(tc.dead)}
				run(t, inBubble(t, n, Options{Timeout: 700 * time.Millisecond, Silence: time.Hour}), p)
				g.Expect(told.Ended).To(BeEquivalentTo(tc.ended))
				g.Expect(told.Longest.From).To(about(tc.from))
				g.Expect(told.Longest.To).To(about(tc.to))
				g.Expect(told.Last).To(tc.last)
			})
		})
	}
}

// Requests that were sent before the last answer, and time out after it, are slow
// ones among others: they make no silence.
func TestSlowRequestsAmongOthersAreNoSilence(t *testing.T) {
	g := NewWithT(t)
	v := &Vigil{silence: time.Hour}
	at := func(tenths int) time.Duration { return time.Duration(tenths) * 100 * time.Millisecond }
	for i := range 10 {
		g.Expect(v.Saw(at(i), at(i+1), true)).To(Succeed())
	}
	for i := range 10 {
		g.Expect(v.Saw(at(i), at(i+50), false)).To(Succeed())
	}
	g.Expect(v.Silences()).To(Equal(Silences{}))
	for i := range 4 {
		g.Expect(v.Saw(at(10+i), at(60+i), false)).To(Succeed())
	}
	g.Expect(v.Silences().Last).To(BeNil(), "four are not enough")
	g.Expect(v.Saw(at(20), at(70), false)).To(Succeed())
	g.Expect(v.Silences().Last).To(Equal(&Silence{From: at(10), To: at(70), Unanswered: 5}))
}

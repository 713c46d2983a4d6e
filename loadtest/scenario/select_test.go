package scenario

import (
	"testing"

	. "github.com/onsi/gomega"
)

// Scenarios run in the order in which they were named. A setting changes all
// scenarios that have it.
func TestSelectAndOverride(t *testing.T) {
	g := NewWithT(t)
	picked, err := Select(Builtin(), []string{"walk", "soak"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(Names(picked)).To(Equal([]string{"walk", "soak"}))

	rate := Setting{"--rate", "rate", 7.0}
	burst := Setting{"--burst", "burst", 9.0}
	changed, err := Override(picked, rate)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(changed[0].Rate).To(BeZero(), "a walk has no rate")
	g.Expect(changed[1].Rate).To(Equal(7.0))
	g.Expect(picked[1].Rate).NotTo(Equal(7.0), "the original is not changed")

	_, err = Override(picked, burst)
	g.Expect(err).To(MatchError("--burst: no selected scenario has this setting (walk, soak)"))
	_, err = Override(picked, Setting{"--rate", "rate", -1.0})
	g.Expect(err).To(MatchError(HavePrefix("scenario soak: rate: -1: want ")))

	g.Expect(Select(Builtin(), nil)).To(HaveLen(len(Builtin())))
	_, err = Select(Builtin(), []string{"walks"})
	g.Expect(err).To(MatchError(HavePrefix("walks: unknown scenario (did you mean walk?) (known: list-throughput, ")))
}

package main

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/schedule"
)

// A phase that is sent again is not taken for another.
func TestProgressTellsPhasesThatAreSentAgain(t *testing.T) {
	var log strings.Builder
	v := newLoadView(&log, []string{"mixed"})
	for _, step := range []string{"warm-up", "steady", "steady"} {
		v.begin("mixed", step, schedule.Schedule{})
		for at := range 2 {
			v.live(generate.Live{Phase: step, At: time.Duration(at) * time.Second, Duration: time.Second})
		}
	}
	v.stop()
	NewWithT(t).Expect(strings.Split(log.String(), "\n")).To(HaveExactElements(
		HavePrefix("[1/1] mixed warm-up  1/1 s"), HavePrefix("[1/1] mixed steady  1/1 s"), HavePrefix("[1/1] mixed steady: sent again  1/1 s"), ""))
}

// What a run waits for is told where no live line is drawn, too, and without
// what would move a terminal's cursor.
func TestProgressTellsWhatIsWaitedFor(t *testing.T) {
	var log strings.Builder
	v := newLoadView(&log, []string{"mixed"})
	v.say("waiting for another run\x1b[2J")
	v.stop()
	NewWithT(t).Expect(log.String()).To(And(HavePrefix("outreach-conformance: waiting for another run"), HaveSuffix("\n"), Not(ContainSubstring("\x1b"))))
}

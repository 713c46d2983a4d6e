package family

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"outreach.example/conformance/fixtures/refserver/limiter"
)

// What no point of a box contradicts, no part of the box contradicts. What contradicts every
// point, contradicts every part.
func TestPartsOfABoxAreJudgedLikeTheBox(t *testing.T) {
	settledOnce, contradictedOnce := false, false
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.IntRange(3, 30).Draw(rt, "limit")
		per := time.Duration(rapid.Int64Range(int64(200*time.Millisecond), int64(5*time.Second)).Draw(rt, "per"))
		counting := rapid.Bool().Draw(rt, "counting")
		text := fmt.Sprintf("sliding-counter:%d/%s", limit, per) // whatever the check takes it for
		if counting {
			text += ",count-refused"
		}
		config, err := limiter.Parse(text)
		if err != nil {
			rt.Fatal(err)
		}
		log := NewLog(probe(rapid.Uint64().Draw(rt, "seed"), config, time.Millisecond, 12))
		within := func(s span, name string) span {
			from, to := rapid.Float64Range(0, 1).Draw(rt, name+" from"), rapid.Float64Range(0, 1).Draw(rt, name+" to")
			return span{s.low + s.width()*min(from, to), s.low + s.width()*max(from, to)}
		}
		kind := Counter
		if !counting && rapid.Bool().Draw(rt, "aligned") {
			kind = Aligned
		}
		check := log.counterCheck(Fit{Kind: kind, Limit: limit, Counting: counting})
		box := plane{window: within(span{0.9 * float64(per), 1.1 * float64(per)}, "window"), phase: within(span{float64(log.start), float64(log.end())}, "phase")}
		for range 10 {
			part := plane{window: within(box.window, "part of window"), phase: within(box.phase, "part of phase")}
			for _, q := range check.questions {
				whole := check.judge(&box, q)
				ofPart := check.judge(&part, q)
				if whole == settled && ofPart == contradicted || whole == contradicted && ofPart != contradicted {
					rt.Fatalf("%+v: %d of the box, %d of its part", q.Observation, whole, ofPart)
				}
				settledOnce = settledOnce || whole == settled
				contradictedOnce = contradictedOnce || whole == contradicted
			}
		}
	})
	if !settledOnce || !contradictedOnce {
		t.Errorf("settled: %t, contradicted: %t: the test says nothing", settledOnce, contradictedOnce)
	}
}

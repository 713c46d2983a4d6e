package measure

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A failed request improves no figure, of no breakdown. The figures of accepted requests
// are those of the same phase without the failed ones, or larger.
func TestNoFailureImprovesAFigure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan, parts := phases(t)
		samples := slices.Concat(parts...)
		with := record(plan, samples)
		without := record(plan, slices.DeleteFunc(samples, func(s Sample) bool { return s.Class() == Failed }))
		compare := func(of string, with, without Histogram) {
			if without.Count() == 0 {
				return
			}
			last := time.Duration(0)
			for _, p := range []float64{0, 0.1, 0.5, 0.9, 0.99, 1} {
				got := with.Value(p)
				if got < without.Value(p) || got < last {
					t.Fatalf("%s p%g: %s after %s, without the failed requests %s", of, 100*p, got, last, without.Value(p))
				}
				last = got
				e := with.Quantile(p)
				if e.Value != got || e.Low > got || e.High < got || e.AtLeast != with.AtLeast(p) || e.AtLeast && !e.Open {
					t.Fatalf("%s p%g: %s: %+v", of, 100*p, got, e)
				}
			}
			if with.Mean() < without.Mean() || with.Max() < without.Max() {
				t.Fatalf("%s: mean %s and max %s, without the failed requests %s and %s", of, with.Mean(), with.Max(), without.Mean(), without.Max())
			}
		}
		compare("response", with.Response[Accepted], without.Response[Accepted])
		compare("service", with.Service[Accepted], without.Service[Accepted])
		for _, label := range with.LabelNames() {
			compare(label, with.Label(label)[Accepted], without.Label(label)[Accepted])
		}
		compare("all labels", with.Label("operation")[Accepted], without.Label("operation")[Accepted])
		for _, s := range with.Series {
			for _, other := range without.Series {
				if s.T == other.T {
					compare("an interval", s.Response[Accepted], other.Response[Accepted])
				}
			}
		}
	})
}

// Of 1,000 requests, 950 are accepted after 2 ms. What becomes of the others is known.
func TestFiguresCoverFailedRequests(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name            string
		sample          Sample // of the others
		lag             time.Duration
		p90, p99, max   time.Duration
		atLeast, counts bool
	}{
		{"no response in time", Sample{Failure: FailureTimeout, Done: 1000 * ms}, 0, 2 * ms, 1000 * ms, 1000 * ms, true, true},
		{"a body that breaks off", Sample{Status: 200, Failure: FailureReset, Done: 800 * ms}, 0, 2 * ms, 800 * ms, 800 * ms, true, true},
		{"an error page, late", Sample{Status: 503, Done: 600 * ms}, 0, 2 * ms, 600 * ms, 600 * ms, true, true},
		{"an error page at once", Sample{Status: 503, Done: ms}, 0, 2 * ms, 2 * ms, 2 * ms, false, false},
		{"no connection", Sample{Failure: FailureRefused, Done: ms / 10}, 0, 2 * ms, 2 * ms, 2 * ms, false, false},
		{"429, however late", Sample{Status: 429, Done: 900 * ms}, 0, 2 * ms, 2 * ms, 2 * ms, false, false},
		// The accepted requests went out 2 s late, the others in time.
		{"no response in time, beside late requests", Sample{Failure: FailureTimeout, Done: 1000 * ms}, 2000 * ms, 2002 * ms, 2002 * ms, 2002 * ms, true, true},
	} {
		r := newRecorder(Plan{Name: "steady", Rate: 100, Duration: 10 * time.Second})
		for i := range 1000 {
			s := Sample{Status: 200, Sent: c.lag, Done: c.lag + 2*ms}
			if i%20 == 0 {
				s = c.sample
			}
			s.Seq, s.Label, s.Due = uint64(i), "list", time.Duration(i)*10*ms
			s.Sent += s.Due
			s.Done += s.Due
			r.Add(s)
		}
		rec := r.Recording()
		for of, h := range map[string]Histogram{"all": rec.Response[Accepted], "the label": rec.Label("list")[Accepted]} {
			e := h.Quantile(0.99)
			near(t, c.name+": p90 of "+of, h.Value(0.9).Seconds(), c.p90.Seconds(), 0.001)
			near(t, c.name+": p99 of "+of, e.Value.Seconds(), c.p99.Seconds(), 0.001)
			near(t, c.name+": max of "+of, h.Max().Seconds(), c.max.Seconds(), 0.001)
			if e.AtLeast != c.atLeast || e.Open != c.atLeast || (e.Samples == 1000) != c.counts || h.Count() != 950 {
				t.Errorf("%s: p99 of %s: %+v", c.name, of, e)
			}
		}
		for _, s := range rec.Series[:10] {
			near(t, c.name+": the median of a second", s.Response[Accepted].Value(0.5).Seconds(), c.p90.Seconds(), 0.02)
		}
	}
}

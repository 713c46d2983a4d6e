package runner

import (
	"math"
	"strconv"
	"sync"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
)

// spending adds up where the time of a run goes. It is safe for concurrent use.
type spending struct {
	now   func() time.Time
	probe string // the key whose rate limit is exceeded; empty for none

	mu     sync.Mutex
	since  time.Time               // of the last change
	doing  map[client.Activity]int // of other keys than the probe's, unless they wait
	probed int                     // requests of the probe in flight
	locked int                     // bodies that wait for another run
	probes int                     // bodies that exceed the rate limit
	others int                     // other bodies
	sum    reports.Time
}

func newSpending(limit *profile.RateLimit, now func() time.Time) *spending {
	s := &spending{now: now, since: now(), doing: map[client.Activity]int{}}
	if limit != nil {
		s.probe = limit.Key
	}
	return s
}

// change enters the time since the last change, then calls what changes the counts.
func (s *spending) change(counts func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	*s.current() += now.Sub(s.since).Seconds()
	s.since = now
	counts()
}

// current returns the sum into which time goes at the moment. The caller holds the lock.
func (s *spending) current() *float64 {
	switch {
	case s.doing[client.Sending] > 0:
		return &s.sum.InFlight
	case s.doing[client.Paced] > 0:
		return &s.sum.Paced
	case s.doing[client.Throttled] > 0 && (s.others > 0 || s.probes == 0): // otherwise the probes provoked the 429
		return &s.sum.Throttled
	case s.locked > 0 && s.probed == 0:
		return &s.sum.Locked
	case s.probes > 0 && s.others == 0:
		return &s.sum.RateLimit
	}
	return &s.sum.Judging
}

func (s *spending) request(a client.Activity, key string, n int) {
	s.change(func() {
		if a == client.Sending && key != "" && key == s.probe {
			s.probed += n
		} else {
			s.doing[a] += n
		}
	})
}

func (s *spending) lock(n int) { s.change(func() { s.locked += n }) }

func (s *spending) body(one suites.Spec, n int) {
	s.change(func() {
		if exceedsRateLimit(one) {
			s.probes += n
		} else {
			s.others += n
		}
	})
}

// total returns the sums so far.
func (s *spending) total() *reports.Time {
	s.change(func() {})
	s.mu.Lock()
	defer s.mu.Unlock()
	rounded := func(seconds float64) float64 { return math.Round(seconds*1000) / 1000 }
	return &reports.Time{Judging: rounded(s.sum.Judging + s.sum.InFlight), InFlight: rounded(s.sum.InFlight), RateLimit: rounded(s.sum.RateLimit), Throttled: rounded(s.sum.Throttled),
		Paced: rounded(s.sum.Paced), Locked: rounded(s.sum.Locked)}
}

// exceedsRateLimit reports whether the spec drives a key to its rate limit.
func exceedsRateLimit(s suites.Spec) bool {
	for _, p := range s.Pairs {
		if r, ok := spec.FindRequirement(p.Requirement); ok && r.Group == spec.GroupRate {
			return true
		}
	}
	return false
}

// inSeconds writes a time of seconds, such as "30 s" or "1.5 s".
func inSeconds(d time.Duration) string {
	return strconv.FormatFloat(math.Round(d.Seconds()*10)/10, 'f', -1, 64) + " s"
}

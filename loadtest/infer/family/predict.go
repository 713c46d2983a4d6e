package family

import "time"

// Forecast is what a fit expects of the limiter after its log: a guess at the
// middle of all intervals, to plan the next probes. Nothing is concluded from
// it.
type Forecast struct {
	// Opens is when a single request will pass if nothing is sent before: the
	// given time, if it passes then.
	Opens time.Duration
	// Room is how many requests pass at once when it opens.
	Room int
}

// Model returns the fit's model after the log, with the window at the given
// place between Low (0) and High (1).
func (f Fit) Model(l *Log, at float64) Model {
	m := f.model(float64(f.Low)+at*float64(f.High-f.Low), float64(f.PhaseLow)+at*float64(f.PhaseHigh-f.PhaseLow))
	m.Observe(l.observations...)
	return m
}

// Forecast returns the forecast from now on, with the window at that place.
func (f Fit) Forecast(l *Log, now time.Duration, at float64) Forecast {
	m := f.Model(l, at)
	opens := m.Opens(now)
	return Forecast{Opens: opens, Room: max(1, m.Room(opens))}
}

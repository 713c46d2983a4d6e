package threshold

// Verdict says how a figure stands to its bound.
type Verdict string

// The verdicts.
const (
	Pass         Verdict = "pass"
	Fail         Verdict = "fail"
	CouldNotTell Verdict = "could not tell"
)

// Result is the verdict on a threshold in one place.
type Result struct {
	Threshold Threshold
	Scenario  string // where it was measured; empty: nowhere
	Phase     string // empty: the figure is the scenario's
	Verdict   Verdict

	Unit             string  // of the figures: ms, % or /s; empty: there are none
	Value, Low, High float64 // the figure and the bounds of its interval
	Open             bool    // the interval has no upper bound: High is only the highest that was seen

	Need     int64  // about how many requests would settle it; 0: it is settled, or nobody knows
	Sentence string // for people
}

// Judge holds what was measured against the threshold: a result for each phase
// (or search) that it is for. There is always one: if nothing that the
// threshold is for was measured, it says that this could not be told.
func Judge(t Threshold, m Measured) []Result {
	return []Result{{Threshold: t, Verdict: CouldNotTell}}
}

// Concerns reports whether m holds anything that the threshold is for.
func (t Threshold) Concerns(m Measured) bool { return false }

// Worst is the verdict on all results together: a failure before what could not
// be told before a pass. No results at all could not be told.
func Worst(results []Result) Verdict {
	return CouldNotTell
}

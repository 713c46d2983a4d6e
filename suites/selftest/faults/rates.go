package faults

func rateDefects() []Defect { return nil }

// Long reports whether a run takes a minute to see the defect. A self-test tries it first,
// so that its end does not wait for it.
func (d Defect) Long() bool { return false }

package reports

import "fmt"

// Level says how far a run shows that a target meets one set of requirements, on the
// operations that the run judged. A vendor of a partial implementation can cite it.
type Level struct {
	Set string `json:"set"` // a set of requirements, such as "read"
	// Requirements is the number of requirements of the set that apply to the operations.
	Requirements int `json:"requirements"`
	Assessed     int `json:"assessed"` // those that were assessed on each of the operations
	Failed       int `json:"failed"`   // those that failed on any of them, as expected or not
}

// Achieved reports whether each requirement of the set was assessed and holds.
func (l Level) Achieved() bool { return l.Failed == 0 && l.Assessed == l.Requirements }

// String returns the level in words: "read: conforms", "write: 2 of 76 failed" or
// "scopes: 12 of 17 assessed".
func (l Level) String() string {
	switch {
	case l.Failed > 0:
		return fmt.Sprintf("%s: %d of %d failed", l.Set, l.Failed, l.Requirements)
	case l.Achieved():
		return l.Set + ": conforms"
	default:
		return fmt.Sprintf("%s: %d of %d assessed", l.Set, l.Assessed, l.Requirements)
	}
}

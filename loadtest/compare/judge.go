package compare

// Verdict says what a comparison has shown of a figure.
type Verdict string

// The verdicts.
const (
	Different    Verdict = "different"
	NotShown     Verdict = "no difference shown" // none that the test could see: the interval says how large one may be
	CouldNotTell Verdict = "could not tell"      // too few pairs for the level, or no figures
)

// Figure is what the pairs measured of one thing, e.g. the p99 of each block.
type Figure struct {
	Name  string
	Unit  string
	Pairs []Pair
}

// Pair is the figure of the two blocks of a pair.
type Pair struct{ A, B float64 }

// Result is what the comparison says about one figure.
type Result struct {
	Name, Unit string
	Pairs      int
	A, B       float64 // medians of the blocks

	Difference                    float64 // B − A
	DifferenceLow, DifferenceHigh float64 // its interval
	Ratio                         float64 // B ÷ A; 0 if a figure is not positive
	RatioLow, RatioHigh           float64

	P        float64 // the chance of so large a difference if there is none
	Adjusted float64 // P, corrected for the number of figures
	Verdict  Verdict
	Why      string
}

// Judge compares the figures of both sides. All figures together call two equal
// targets different in at most 5 % of comparisons.
func Judge(seed uint64, figures ...Figure) []Result { return nil }

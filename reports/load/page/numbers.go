package page

import (
	"math"
	"strconv"

	"outreach.example/conformance/internal/printable"
)

// whole formats n with a comma between thousands.
func whole(n int64) string { return printable.Number(int(n)) }

// percent formats a share as a percentage.
func percent(share float64) string { return printable.Figure(100*share) + " %" }

// quantileName returns the name of a quantile: p99 for 0.99.
func quantileName(p float64) string {
	return "p" + strconv.FormatFloat(math.Round(p*1e8)/1e6, 'g', -1, 64)
}

// size formats a number of bytes.
func size(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	v, unit := float64(n), 0
	for v >= 1024 && unit < len(units)-1 {
		v, unit = v/1024, unit+1
	}
	return printable.Figure(v) + " " + units[unit]
}

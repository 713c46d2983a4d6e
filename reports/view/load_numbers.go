package view

import (
	"math"
	"strconv"

	"outreach.example/conformance/internal/printable"
)

// percent formats a share as a percentage.
func percent(share float64) string { return printable.Figure(100*share) + " %" }

// quantileName returns the name of a quantile: p99 for 0.99.
func quantileName(p float64) string {
	return "p" + strconv.FormatFloat(math.Round(p*1e8)/1e6, 'g', -1, 64)
}

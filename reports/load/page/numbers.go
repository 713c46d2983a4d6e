package page

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// number formats a number with 4 significant digits, or with all digits before the
// point, and a comma between thousands.
func number(v float64) string {
	switch a := math.Abs(v); {
	case a == 0:
		return "0"
	case a >= 999.95: // rounds to 1,000
		return whole(int64(math.Round(v)))
	case a >= 100:
		return trimmed(v, 1)
	case a >= 10:
		return trimmed(v, 2)
	case a >= 1:
		return trimmed(v, 3)
	case a >= 0.001:
		return trimmed(v, 4)
	default:
		return fmt.Sprintf("%.2g", v)
	}
}

func trimmed(v float64, decimals int) string {
	return strings.TrimRight(strings.TrimRight(strconv.FormatFloat(v, 'f', decimals, 64), "0"), ".")
}

// whole formats n with a comma between thousands.
func whole(n int64) string {
	digits, sign := strconv.FormatInt(n, 10), ""
	if n < 0 {
		sign, digits = "−", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// percent formats a share as a percentage.
func percent(share float64) string { return number(100*share) + " %" }

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
	return number(v) + " " + units[unit]
}

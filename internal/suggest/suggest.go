// Package suggest finds the name that a user may have meant. It imports nothing
// of this module.
package suggest

import (
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Near returns " (did you mean NAME?)" for the name that is most like the given
// one, in any letter case. It returns "" if none is like it.
func Near(given string, names []string) string {
	best, distance := "", len(given)/2+1
	for _, name := range names {
		if d := levenshtein.ComputeDistance(strings.ToLower(given), strings.ToLower(name)); d < distance {
			best, distance = name, d
		}
	}
	if best == "" {
		return ""
	}
	return Hint(best)
}

// Hint returns " (did you mean NAME?)".
func Hint(name string) string { return fmt.Sprintf(" (did you mean %s?)", name) }

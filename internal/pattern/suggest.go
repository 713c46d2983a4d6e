package pattern

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Near returns " (did you mean NAME?)" for the name that is most like the given
// one, in any letter case. It returns "" if none is like it.
func Near(given string, names []string) string {
	best, distance := "", len(strings.TrimLeft(given, "-"))/2+1 // the dashes of a flag are like those of any other
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

// maxSeveral is how many names Several returns at most.
const maxSeveral = 3

// Several is Near for names with parts: it returns a few names that begin with the given
// one, contain it or are like it, in this order.
func Several(given string, names []string) string {
	given = strings.ToLower(given)
	var begin, contain, alike []string
	for _, name := range names {
		switch lower := strings.ToLower(name); {
		case given == "":
		case strings.HasPrefix(lower, given):
			begin = append(begin, name)
		case strings.Contains(lower, given):
			contain = append(contain, name)
		case levenshtein.ComputeDistance(given, lower) < len(given)/2+1:
			alike = append(alike, name)
		}
	}
	slices.SortStableFunc(alike, func(a, b string) int {
		return levenshtein.ComputeDistance(given, strings.ToLower(a)) - levenshtein.ComputeDistance(given, strings.ToLower(b))
	})
	all := slices.Concat(begin, contain, alike)
	if len(all) == 0 {
		return ""
	}
	all = all[:min(len(all), maxSeveral)]
	last := len(all) - 1
	if last == 0 {
		return Hint(all[0])
	}
	return Hint(strings.Join(all[:last], ", ") + " or " + all[last])
}

// Hint returns " (did you mean NAME?)".
func Hint(name string) string { return fmt.Sprintf(" (did you mean %s?)", name) }

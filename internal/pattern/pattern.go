package pattern

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// not begins a pattern that excludes names.
const not = "!"

// Fits reports whether the patterns select the name. A pattern is as in path.Match,
// where "*" stands for any text. A pattern that begins with "!" excludes names,
// wherever it stands. Without other patterns, every other name is selected.
func Fits(patterns []string, name string) bool {
	chosen, choosy := false, false
	for _, p := range patterns {
		if bare, excludes := strings.CutPrefix(p, not); excludes {
			if matches(bare, name) {
				return false
			}
			continue
		}
		choosy = true
		chosen = chosen || matches(p, name)
	}
	return chosen || !choosy
}

// Check returns an error for a pattern that is malformed or matches none of the
// names. The error suggests a name that is like the pattern.
func Check(what, pattern string, names []string) error {
	bare := strings.TrimPrefix(pattern, not)
	if _, err := path.Match(bare, ""); err != nil {
		return fmt.Errorf("%q is not a pattern: %w", pattern, err)
	}
	if slices.ContainsFunc(names, func(n string) bool { return matches(bare, n) }) {
		return nil
	}
	return fmt.Errorf("no %s matches %q%s", what, bare, meant(bare, names))
}

func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}

// meant suggests what a pattern without a match may have been meant to be: the
// same in the letters of the names, the beginning of some, or a name like it.
func meant(pattern string, names []string) string {
	for _, p := range []string{strings.ToUpper(pattern), strings.ToLower(pattern)} {
		for _, guess := range []string{p, p + "*"} {
			found := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !matches(guess, n) })
			switch {
			case len(found) == 0 || p == "":
				continue
			case len(found) == 1:
				guess = found[0]
			}
			return Hint(guess)
		}
	}
	return Near(pattern, names)
}

package main

import (
	"slices"
	"testing"
)

// Flags whose empty value says something exist; each says what in its help.
func TestEmptyMeansNone(t *testing.T) {
	flags := flagsOf(newRoot())
	for _, name := range emptyMeansNone {
		if !slices.Contains(flags, "--"+name) {
			t.Errorf("there is no flag --%s", name)
		}
	}
}

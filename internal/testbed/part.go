package testbed

import "flag"

// PartOfChecks has properties of pure computation looked at a tenth as often with
// the race detector, unless the command line says how often. It is for TestMain,
// before the flags are parsed.
func PartOfChecks() {
	if !RaceDetector {
		return
	}
	if err := flag.Set("rapid.checks", "10"); err != nil {
		panic(err)
	}
}

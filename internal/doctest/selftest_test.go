package doctest

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/selftest"
	"outreach.example/conformance/suites/selftest/faults"
)

// matrixFile is the selftest.json that `make selftest-figures` has just written.
var matrixFile = flag.String("selftest", "", "with -update: take the figures of the self-test from this selftest.json")

// measured is what only a whole self-test can write. Its groups are proven and all
// pairs, killed and all defects, accepted and all quirks.
var measured = regexp.MustCompile(`The last whole self-test proved (\d+) of (\d+) pairs, .*\n` +
	`It killed (\d+) of (\d+) defects and accepted (\d+) of (\d+) quirks. It took .* s on \d+ cores.\n`)

// lastFormat is what measured reads.
const lastFormat = "The last whole self-test proved %d of %d pairs, %d of them by a defect that no other check caught.\n" +
	"It killed %d of %d defects and accepted %d of %d quirks. It took %.0f s on %d cores.\n"

// selftestFigures says what the self-test tries, counted in the code, and what
// it found out, as the last whole one has measured it. It takes too long to be
// repeated here: what was measured must go with what is counted.
func selftestFigures(t *testing.T) string {
	tries := fmt.Sprintf("It tries **%d defects**, and **%d quirks**, four at a time, for **%d pairs** of requirement × operation.\n",
		len(faults.Defects()), len(faults.Quirks()), len(spec.Pairs()))
	if *matrixFile != "" {
		matrix, err := os.ReadFile(*matrixFile)
		if err != nil {
			t.Fatal(err)
		}
		return tries + lastSelftest(t, string(matrix))
	}
	last := measured.FindString(part(t, "selftest"))
	if last == "" {
		return tries
	}
	if err := agrees(last); err != nil {
		t.Errorf("%v: run make selftest-figures", err)
	}
	return tries + last
}

// lastSelftest sums up the matrix of a whole self-test that found nothing wrong;
// no other may stand in the documents.
func lastSelftest(t *testing.T, encoded string) string {
	var m selftest.Matrix
	if err := json.Unmarshal([]byte(encoded), &m); err != nil {
		t.Fatalf("%s: %v", *matrixFile, err)
	}
	if problems := m.Problems(); !m.Whole || len(problems) > 0 {
		t.Fatalf("%s is not of a whole self-test that found nothing wrong: %s", *matrixFile, strings.Join(problems, "\n"))
	}
	f := m.Figures()
	sentence := fmt.Sprintf(lastFormat,
		f.Proven, f.Pairs, f.Sharp, f.Killed, f.Defects, f.Tolerated, f.Quirks, f.Seconds, runtime.GOMAXPROCS(0))
	if err := agrees(sentence); err != nil {
		t.Fatalf("%s: %v", *matrixFile, err)
	}
	return sentence
}

// agrees holds the sentence against the code: nothing may be left out or left over.
func agrees(sentence string) error {
	groups := measured.FindStringSubmatch(sentence)
	if groups == nil {
		return fmt.Errorf("%q does not read like the figures of a self-test", sentence)
	}
	n := make([]int, len(groups))
	for i := 1; i < len(groups); i++ {
		n[i], _ = strconv.Atoi(groups[i]) // digits
	}
	pairs, defects, quirks := len(spec.Pairs()), len(faults.Defects()), len(faults.Quirks())
	switch {
	case n[1] != pairs || n[2] != pairs:
		return fmt.Errorf("the self-test proved %d of %d pairs; there are %d now", n[1], n[2], pairs)
	case n[3] != defects || n[4] != defects:
		return fmt.Errorf("the self-test killed %d of %d defects; there are %d now", n[3], n[4], defects)
	case n[5] != n[6] || n[5] != quirks:
		return fmt.Errorf("the self-test accepted %d of %d quirks; there are %d quirks now", n[5], n[6], quirks)
	}
	return nil
}

func TestFiguresOfAnotherSelftestAreRefused(t *testing.T) {
	pairs, defects, quirks := len(spec.Pairs()), len(faults.Defects()), len(faults.Quirks())
	sentence := func(proven, killed, passed, tried int) string {
		return fmt.Sprintf(lastFormat, proven, pairs, 1, killed, defects, passed, tried, 1.0, 2)
	}
	if err := agrees(sentence(pairs, defects, quirks, quirks)); err != nil {
		t.Errorf("the figures of a whole self-test: %v", err)
	}
	for name, wrong := range map[string]string{
		"a pair unproven":      sentence(pairs-1, defects, quirks, quirks),
		"a defect alive":       sentence(pairs, defects-1, quirks, quirks),
		"a quirk failed":       sentence(pairs, defects, quirks-1, quirks),
		"a quirk not tried":    sentence(pairs, defects, quirks-1, quirks-1),
		"something else":       "all is well",
		"of another catalogue": strings.Replace(sentence(pairs, defects, quirks, quirks), fmt.Sprintf("of %d pairs", pairs), "of 1 pairs", 1),
	} {
		if agrees(wrong) == nil {
			t.Errorf("%s: %q is taken for current", name, wrong)
		}
	}
}

package main

import (
	"bytes"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// Numbers that mean nothing are refused before anything is sent, with what would
// be right.
func TestNumbersWithoutSense(t *testing.T) {
	t.Chdir(t.TempDir())
	huge := "99999999999999999999"
	scenarioOf := map[string]string{"burst": "spike", "max-rate": "sustained-rate", "clients": "walk", "probe-budget": "rate-limit"}
	for _, tc := range []struct {
		command, flag string
		values        []string
		says          string // what would be right
	}{
		{runCommand, "seed", []string{"-1", "1.5", "NaN", huge, "9223372036854775808"}, `want a whole number|want a smaller number|want at most \d+`},
		{runCommand, "rows", []string{"-1", "1e3", huge, "999999999"}, `want 0 to \d+|want a whole number|want a smaller number`},
		{runCommand, "requests-per-second", []string{"-1", "NaN", "Inf", "-Inf", "1e300"}, `want 0`},
		{runCommand, "concurrency", []string{"0", "-1", huge, "1000000"}, `want 1 to|want a smaller number`},
		{runCommand, "timeout", []string{"0s", "-1s", "100h", "5"}, `want more than 0s and at most|want a time with a unit`},
		{runCommand, "max-requests", []string{"-1", huge}, `want the maximum requests|want a smaller number`},
		{loadCommand, "seed", []string{"-1", huge, "9223372036854775808"}, `want a whole number|want a smaller number|want at most \d+`},
		{loadCommand, "rows", []string{"-1", huge, "999999999"}, `want 0 to \d+|want a smaller number`},
		{loadCommand, "rate", []string{"0", "-1", "NaN", "Inf", "1e300"}, `want|is required`},
		{loadCommand, "burst", []string{"0", "-1", "NaN", "Inf", "1e300", "49", "50"}, `want|is required|is not above`},
		{loadCommand, "max-rate", []string{"0", "-1", "NaN", "Inf", "1e300", "249"}, `want|is required|is below`},
		{loadCommand, "duration", []string{"0s", "-1s", "10000h", "5"}, `want|is required`},
		{loadCommand, "warmup", []string{"-1s", "10000h"}, `want`},
		{loadCommand, "clients", []string{"0", "-1", "1000000", huge}, `want|is required`},
		{loadCommand, "page-size", []string{"0", "-1", "101", huge}, `want`},
		{loadCommand, "mix", []string{"lead-lists.list=0", "lead-lists.list=-1", "lead-lists.list=1000000", "lead-lists.list=NaN"}, `want|selects no operation`},
		{loadCommand, "probe-budget", []string{"0", "-1", "1000000000", huge}, `want|is required`},
		{loadCommand, "pairs", []string{"0", "-1", "1001", huge}, `want|needs`},
		{loadCommand, "concurrency", []string{"0", "-1", "65537", huge}, `want 1 to 65536|want a smaller number`},
		{loadCommand, "inspect-share", []string{"0", "-1", "1.1", "NaN", "Inf"}, `want a share above 0`},
		{loadCommand, "lag-limit", []string{"0s", "-1s"}, `want more than 0`},
		{loadCommand, "timeout", []string{"0s", "-1s", "100h"}, `want more than 0s and at most`},
		{loadCommand, "max-requests", []string{"-1", huge}, `want`},
	} {
		for _, value := range tc.values {
			args := []string{tc.command, "--" + tc.flag + "=" + value}
			if name := scenarioOf[tc.flag]; name != "" {
				args = append(args, "--scenario", name)
			}
			t.Run(tc.command+" "+args[1], func(t *testing.T) {
				g := NewWithT(t)
				var stdout, stderr bytes.Buffer
				g.Expect(execute(args, &stdout, &stderr)).To(Equal(exitUsage), "%s%s", &stdout, &stderr)
				g.Expect(stderr.String()).To(And(MatchRegexp(strings.ReplaceAll(tc.flag, "-", "[-_]")), MatchRegexp(tc.says)))
			})
		}
	}
}

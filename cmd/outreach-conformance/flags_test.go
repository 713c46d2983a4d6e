package main

import (
	"testing"

	. "github.com/onsi/gomega"
	"github.com/spf13/pflag"
)

// The variable of a flag that may be repeated holds several values. Commas are
// theirs, or those of a list.
func TestVariablesOfRepeatableFlags(t *testing.T) {
	for text, want := range map[string][]string{
		"p99<250ms":                           {"p99<250ms"},
		"p99<250ms; errors<1%":                {"p99<250ms", "errors<1%"},
		"p99<250ms\n  errors<1%\n\nmax<2s;\n": {"p99<250ms", "errors<1%", "max<2s"},
		"a=1,b=2":                             {"a=1,b=2"},
		";":                                   {";"},
	} {
		g := NewWithT(t)
		flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
		thresholds := flags.StringArray("threshold", nil, "")
		mix := flags.StringToInt("mix", nil, "")
		operations := flags.StringSlice("operation", nil, "")
		g.Expect(setFromEnvironment(flags, func(name string) string {
			return map[string]string{"OUTREACH_THRESHOLD": text, "OUTREACH_MIX": "leads.move=3,*.list=1", "OUTREACH_OPERATION": "a,b"}[name]
		})).To(Succeed())
		g.Expect(*thresholds).To(Equal(want))
		g.Expect(*mix).To(Equal(map[string]int{"leads.move": 3, "*.list": 1}))
		g.Expect(*operations).To(Equal([]string{"a", "b"}))
	}
}

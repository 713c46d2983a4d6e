package main

import (
	"strings"
	"testing"
	"time"

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

// So does the variable of a list, whatever it is a list of. Commas separate there, too.
func TestVariablesOfLists(t *testing.T) {
	for _, text := range []string{"1,2;3", "1\n2\n3\n", ";1;2,3;"} {
		g := NewWithT(t)
		named := strings.NewReplacer("1", "a=1", "2", "b=2", "3", "c=3").Replace(text)
		timed := strings.NewReplacer("1", "1s", "2", "2s", "3", "3s").Replace(text)
		flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
		scenarios := flags.StringSlice("scenario", []string{"all"}, "")
		limits := flags.IntSlice("page-size", nil, "")
		mix := flags.StringToInt("mix", nil, "")
		pauses := flags.DurationSlice("pause", nil, "")
		g.Expect(setFromEnvironment(flags, func(name string) string {
			return map[string]string{"OUTREACH_SCENARIO": text, "OUTREACH_PAGE_SIZE": text, "OUTREACH_MIX": named, "OUTREACH_PAUSE": timed}[name]
		})).To(Succeed(), text)
		g.Expect(*scenarios).To(Equal([]string{"1", "2", "3"}))
		g.Expect(*limits).To(Equal([]int{1, 2, 3}))
		g.Expect(*mix).To(Equal(map[string]int{"a": 1, "b": 2, "c": 3}))
		g.Expect(*pauses).To(Equal([]time.Duration{time.Second, 2 * time.Second, 3 * time.Second}))
	}
}

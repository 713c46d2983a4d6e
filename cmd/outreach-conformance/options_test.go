package main

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/spf13/cobra"
)

type inner struct {
	Limit *int     `flag:"limit" usage:"the {what}"`
	Name  []string `flag:"name,n" usage:"of the inner struct"`
}

type sample struct {
	inner
	Name   []string        `flag:"name" whole:"" usage:"of the outer struct"`
	Lists  []string        `flag:"list" usage:"lists"`
	Sizes  []int           `flag:"size" usage:"sizes"`
	Mix    map[string]int  `flag:"mix" usage:"mix"`
	Pauses []time.Duration `flag:"pause" usage:"pauses"`
	Unused bool            `flag:"unused" usage:"no flag"`
}

// bound returns a command whose flags are bound to the options.
func bound(o *sample, args ...string) (*cobra.Command, *Set, error) {
	cmd := &cobra.Command{Use: "test"}
	s := Bind(cmd.Flags(), o, "One: limit name\nTwo: list size mix pause", "{what}", "maximum")
	err := cmd.Flags().Parse(args)
	if err == nil {
		err = Complete(cmd, "list")
	}
	s.Parsed()
	return cmd, s, err
}

func TestOptionsAreBoundToFlags(t *testing.T) {
	g, o := NewWithT(t), sample{Sizes: []int{7}}
	cmd, s, err := bound(&o, "--limit", "3", "--name", "a,b", "--list", "")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(*o.Limit).To(Equal(3))
	g.Expect(o.Name).To(Equal([]string{"a,b"}), "the outer struct's")
	g.Expect(o.Sizes).To(Equal([]int{7}), "the default")
	g.Expect(s.Given("limit")).To(BeTrue())
	g.Expect(s.Given("size")).To(BeFalse())
	g.Expect(s.Value("name")).To(Equal(o.Name))
	g.Expect(cmd.Flags().Lookup("unused")).To(BeNil())
	g.Expect(groups(cmd.Flags())).To(MatchRegexp(`(?s)^One:\n +--limit int +the maximum\n +--name stringArray.*\n\nTwo:\n`))

	o = sample{}
	_, _, err = bound(&o)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(o.Limit).To(BeNil())
	_, _, err = bound(&o, "--name", " ")
	g.Expect(err).To(MatchError(HavePrefix("--name: empty value")))
}

// The variable of a repeatable flag holds several values. A comma is part of a value, or
// separates the values of a list.
func TestVariables(t *testing.T) {
	for text, want := range map[string][]string{
		"p99<250ms; errors<1%":                {"p99<250ms", "errors<1%"},
		"p99<250ms\n  errors<1%\n\nmax<2s;\n": {"p99<250ms", "errors<1%", "max<2s"},
		"a=1,b=2":                             {"a=1,b=2"},
	} {
		g, o := NewWithT(t), sample{Sizes: []int{7}}
		t.Setenv("OUTREACH_NAME", text)
		t.Setenv("OUTREACH_SIZE", ";1;2,3;")
		t.Setenv("OUTREACH_MIX", "a=1,b=2\nc=3")
		t.Setenv("OUTREACH_PAUSE", "1s,2s")
		_, _, err := bound(&o)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(o.Name).To(Equal(want))
		g.Expect(o.Sizes).To(Equal([]int{1, 2, 3}))
		g.Expect(o.Mix).To(Equal(map[string]int{"a": 1, "b": 2, "c": 3}))
		g.Expect(o.Pauses).To(Equal([]time.Duration{time.Second, 2 * time.Second}))
	}
}

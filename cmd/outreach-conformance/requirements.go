package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"outreach.example/conformance/internal/suggest"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
	"outreach.example/conformance/suites/selftest/faults"
)

func newRequirements() *cobra.Command {
	var f runFlags
	var silences bool
	cmd := &cobra.Command{
		Use:   "requirements",
		Short: "List the catalogue and its coverage",
		Long: `requirements lists every requirement with its level, its number of operations and
on how many of these a spec checks it. With --silences it lists what the
specification leaves open, which is never judged.

Each entry begins with its id at the start of a line.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if silences {
				listSilences(cmd.OutOrStdout())
				return nil
			}
			selected, err := f.selection().Pairs()
			if err != nil {
				return exitError{selectionCode(err), err}
			}
			listRequirements(cmd.OutOrStdout(), selected)
			return nil
		},
	}
	flags := cmd.Flags()
	group(flags, "Selection", func() {
		f.registerSelection(flags, nil)
		flags.BoolVar(&silences, "silences", false, "list what the specification leaves open instead")
	})
	return cmd
}

// statementWidth is where long texts are wrapped.
const statementWidth = 72

func listRequirements(w io.Writer, selected []spec.Pair) {
	judged := suites.Judges()
	bound, covered := map[string]int{}, map[string]int{}
	total := 0
	for _, p := range selected {
		bound[p.Requirement]++
		if len(judged[p]) > 0 {
			covered[p.Requirement]++
			total++
		}
	}
	_, _ = fmt.Fprint(w, "requirement  level  group  profile  operations judged/bound\n\n")
	for _, r := range spec.Requirements() {
		if bound[r.ID] > 0 {
			_, _ = fmt.Fprintf(w, "%s  %s  %s  %s  %d/%d\n%s", r.ID, r.Level, r.Group, r.Profile, covered[r.ID], bound[r.ID], below(r.Statement))
		}
	}
	_, _ = fmt.Fprintf(w, "\n%d requirements on %d operations: %d requirement × operation pairs, %d judged by %d specs\n",
		len(bound), operationsIn(selected), len(selected), total, len(suites.Specs()))
}

func operationsIn(selected []spec.Pair) int {
	operations := map[string]bool{}
	for _, p := range selected {
		operations[p.Operation] = true
	}
	return len(operations)
}

func listSilences(w io.Writer) {
	_, _ = fmt.Fprint(w, "silence  section\n\n")
	for _, s := range spec.Silences() {
		_, _ = fmt.Fprintf(w, "%s  %s\n%s", s.ID, s.Section, below(s.Statement))
		if s.Observed != "" {
			_, _ = fmt.Fprint(w, below("Observed: "+s.Observed+"."))
		}
	}
	_, _ = fmt.Fprintf(w, "\n%d silences: never judged\n", len(spec.Silences()))
}

// below sets a text under the line that it belongs to.
func below(text string) string {
	const margin = "    "
	return margin + strings.ReplaceAll(wrap(text), "\n", "\n"+margin) + "\n"
}

func newTable(w io.Writer, columns ...string) table.Writer {
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.SuppressTrailingSpaces()
	t.SetStyle(table.StyleLight)
	t.Style().Options = table.OptionsNoBordersAndSeparators
	t.Style().Format.Header = text.FormatDefault
	header := table.Row{}
	for _, c := range columns {
		header = append(header, c)
	}
	t.AppendHeader(header)
	return t
}

func newExplain() *cobra.Command {
	return &cobra.Command{
		Use:     "explain ID",
		Short:   "Explain a requirement or a silence, and how it is checked",
		Example: "  outreach-conformance explain PAGE-WALK-ONCE",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("explain takes one id (`outreach-conformance requirements [--silences]` lists them)")
			}
			id := strings.ToUpper(args[0])
			if r, ok := spec.FindRequirement(id); ok {
				explainRequirement(cmd.OutOrStdout(), r)
				return nil
			}
			if s, ok := spec.FindSilence(id); ok {
				explainSilence(cmd.OutOrStdout(), s)
				return nil
			}
			return fmt.Errorf("unknown id %q%s (`outreach-conformance requirements` lists all)", id, suggest.Near(id, ids()))
		},
	}
}

// ids are all that can be explained.
func ids() []string {
	var all []string
	for _, r := range spec.Requirements() {
		all = append(all, r.ID)
	}
	for _, s := range spec.Silences() {
		all = append(all, s.ID)
	}
	return all
}

func explainRequirement(w io.Writer, r spec.Requirement) {
	_, _ = fmt.Fprintf(w, "%s\n\n%s\n\n", r.ID, wrap(r.Statement))
	field := func(name, value string) {
		if value != "" {
			_, _ = fmt.Fprintf(w, "%-10s %s\n", name, strings.ReplaceAll(wrap(value), "\n", "\n           "))
		}
	}
	field("level", string(r.Level))
	field("because", r.Reasoning)
	field("section", r.Section)
	field("group", string(r.Group))
	field("profile", string(r.Profile))
	field("checked", r.Method)
	_, _ = fmt.Fprintf(w, "\noperations, the specs that judge it there, and the defects (✗) that prove that they can fail\n")
	judged, proofs := suites.Judges(), defectsOf(r)
	for _, op := range r.Operations {
		_, _ = fmt.Fprintf(w, "  %s\n", op)
		for _, name := range judged[spec.Pair{Requirement: r.ID, Operation: op}] {
			_, _ = fmt.Fprintf(w, "    %s\n", name)
		}
		for _, d := range proofs[op] {
			_, _ = fmt.Fprintf(w, "      ✗ %s: the server %s\n", d.ID, d.Doc)
		}
	}
	_, _ = fmt.Fprintf(w, "\ncheck only this: outreach-conformance run --requirement %s\n", r.ID)
	_, _ = fmt.Fprintf(w, "prove only this: outreach-conformance selftest --fault %s\n", r.ID)
}

// defectsOf returns the defects that break the requirement, by operation.
func defectsOf(r spec.Requirement) map[string][]faults.Defect {
	of := map[string][]faults.Defect{}
	for _, d := range faults.Defects() {
		if d.Breaks.Requirement == r.ID {
			of[d.Breaks.Operation] = append(of[d.Breaks.Operation], d)
		}
	}
	return of
}

func explainSilence(w io.Writer, s spec.Silence) {
	_, _ = fmt.Fprintf(w, "%s\n\n%s\n\nThe specification leaves this open, so it is never judged.\n\n", s.ID, wrap(s.Statement))
	_, _ = fmt.Fprintf(w, "section    %s\n", s.Section)
	if s.Observed != "" {
		_, _ = fmt.Fprintf(w, "observed   %s\n", s.Observed)
	}
	if len(s.Operations) > 0 {
		_, _ = fmt.Fprintf(w, "operations %s\n", strings.Join(s.Operations, ", "))
	}
}

func wrap(s string) string {
	lines := strings.Split(text.WrapSoft(s, statementWidth), "\n") // which pads them
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

package console

import (
	"fmt"
	"io"
	"strings"

	"outreach.example/conformance/spec"
)

// catalogueWidth is the number of columns at which texts of the catalogue wrap.
const catalogueWidth = 72

// Requirements lists the requirements of the selected pairs, with the number of
// their operations that specs judge. specsOf names the specs of each pair, and
// specs is the number of all specs.
func Requirements(w io.Writer, selected []spec.Pair, specsOf map[spec.Pair][]string, specs int) error {
	bound, judged := map[string]int{}, map[string]int{}
	operations := map[string]bool{}
	total := 0
	for _, p := range selected {
		bound[p.Requirement]++
		operations[p.Operation] = true
		if len(specsOf[p]) > 0 {
			judged[p.Requirement]++
			total++
		}
	}
	var b strings.Builder
	b.WriteString("requirement  level  group  profile  operations judged/bound\n\n")
	for _, r := range spec.Requirements() {
		if bound[r.ID] > 0 {
			fmt.Fprintf(&b, "%s  %s  %s  %s  %d/%d\n%s", r.ID, r.Level, r.Group, r.Profile, judged[r.ID], bound[r.ID], below(r.Statement))
		}
	}
	fmt.Fprintf(&b, "\n%d requirements on %d operations: %d requirement × operation pairs, %d judged by %d specs\n",
		len(bound), len(operations), len(selected), total, specs)
	_, err := io.WriteString(w, b.String())
	return err
}

// OpenPoints lists what the specification leaves open.
func OpenPoints(w io.Writer) error {
	var b strings.Builder
	b.WriteString("open point  section\n\n")
	for _, s := range spec.OpenPoints() {
		fmt.Fprintf(&b, "%s  %s\n%s", s.ID, s.Section, below(s.Statement))
		if s.Observed != "" {
			b.WriteString(below("Observed: " + s.Observed + "."))
		}
	}
	fmt.Fprintf(&b, "\n%d open points: never judged\n", len(spec.OpenPoints()))
	_, err := io.WriteString(w, b.String())
	return err
}

// Requirement explains a requirement. specsOf names the specs of each pair, and
// proofs describes the defects that prove them, by operation.
func Requirement(w io.Writer, r spec.Requirement, specsOf map[spec.Pair][]string, proofs map[string][]string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n\n", r.ID, indented("", r.Statement))
	field := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-10s %s\n", name, indented("           ", value))
		}
	}
	field("level", string(r.Level))
	field("because", r.Reasoning)
	field("section", r.Section)
	field("group", string(r.Group))
	field("profile", string(r.Profile))
	field("checked", r.Method)
	b.WriteString("\noperations, the specs that judge it there, and the defects (✗) that prove that they can fail\n")
	for _, op := range r.Operations {
		fmt.Fprintf(&b, "  %s\n", op)
		for _, name := range specsOf[spec.Pair{Requirement: r.ID, Operation: op}] {
			fmt.Fprintf(&b, "    %s\n", name)
		}
		for _, defect := range proofs[op] {
			fmt.Fprintf(&b, "      ✗ %s\n", defect)
		}
	}
	fmt.Fprintf(&b, "\ncheck only this: outreach-conformance run --requirement %s\n", r.ID)
	fmt.Fprintf(&b, "prove only this: outreach-conformance selftest --fault %s\n", r.ID)
	_, err := io.WriteString(w, b.String())
	return err
}

// OpenPoint explains one open point.
func OpenPoint(w io.Writer, s spec.OpenPoint) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n\nThe specification leaves this open, so it is never judged.\n\n", s.ID, indented("", s.Statement))
	fmt.Fprintf(&b, "section    %s\n", s.Section)
	if s.Observed != "" {
		fmt.Fprintf(&b, "observed   %s\n", s.Observed)
	}
	if len(s.Operations) > 0 {
		fmt.Fprintf(&b, "operations %s\n", list(s.Operations))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// below returns the text as indented lines below an entry.
func below(text string) string {
	const margin = "    "
	return margin + indented(margin, text) + "\n"
}

// indented wraps the text, with a margin before each line but the first.
func indented(margin, text string) string {
	return strings.Join(wrap(text, catalogueWidth), "\n"+margin)
}

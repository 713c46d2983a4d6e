package console

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"outreach.example/conformance/spec"
)

// catalogueWidth is the number of columns at which texts of the catalogue wrap.
const catalogueWidth = 72

// Requirements lists the requirements of the selected pairs, with the number of
// their operations that specs judge. specsOf names the specs of each pair, and
// specs is the number of all specs. lacks says what a target profile lacks for pairs that no
// spec judges with it.
func Requirements(w io.Writer, selected []spec.Pair, specsOf map[spec.Pair][]string, specs int, lacks map[spec.Pair]string) error {
	bound, judged := map[string]int{}, map[string]int{}
	operations := map[string]bool{}
	total := 0
	for _, p := range selected {
		bound[p.Requirement]++
		operations[p.Operation] = true
		if len(specsOf[p]) > 0 && lacks[p] == "" {
			judged[p.Requirement]++
			total++
		}
	}
	var b strings.Builder
	b.WriteString("requirement  level  group  profile  operations judged/bound\n\n")
	for _, r := range spec.Requirements() {
		if bound[r.ID] > 0 {
			fmt.Fprintf(&b, "%s  %s  %s  %s  %d/%d\n%s", r.ID, r.Level, r.Group, r.Profile, judged[r.ID], bound[r.ID], below(r.Statement))
			b.WriteString(lackedBy(r, selected, lacks))
		}
	}
	fmt.Fprintf(&b, "\n%d requirements on %d operations: %d requirement × operation pairs, %d judged by %d specs\n",
		len(bound), len(operations), len(selected), total, specs)
	if len(lacks) > 0 {
		fmt.Fprintf(&b, "%d pairs are not assessed for lack of an input of the target profile\n", len(lacks))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// lackedBy says which inputs the operations of a requirement lack.
func lackedBy(r spec.Requirement, selected []spec.Pair, lacks map[spec.Pair]string) string {
	by := map[string][]string{}
	for _, p := range selected {
		if input := lacks[p]; input != "" && p.Requirement == r.ID {
			by[input] = append(by[input], p.Operation)
		}
	}
	text := ""
	for _, input := range slices.Sorted(maps.Keys(by)) {
		text += below(fmt.Sprintf("Not assessed without %s: %s", input, strings.Join(by[input], ", ")))
	}
	return text
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

// Explanation is what Requirement says about a requirement.
type Explanation struct {
	Requirement spec.Requirement
	Locations   []string               // file and line of the checks
	Specs       map[spec.Pair][]string // names of the specs that judge each pair
	Proofs      map[string][]string    // the defects that prove them, by operation
	Verbose     bool                   // list every spec and every defect
}

// Most of these that Requirement lists, unless Verbose is set.
const (
	maxQuotes    = 2
	maxLocations = 3
	maxProofs    = 2
)

// Requirement explains a requirement.
func Requirement(w io.Writer, e Explanation) error {
	var b strings.Builder
	r := e.Requirement
	fmt.Fprintf(&b, "%s\n\n%s\n\n", r.ID, indented("", r.Statement))
	field := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-10s %s\n", name, indented("           ", value))
		}
	}
	field("level", string(r.Level))
	field("because", r.Reasoning)
	field("section", r.Section)
	field("set, group", string(r.Profile)+", "+string(r.Group))
	field("checked", r.Method)
	if !e.Verbose {
		field("operations", operationsInShort(r))
	}
	b.WriteString("\nthe specification says\n")
	quotes := spec.Quotes(r)
	for _, q := range e.some(len(quotes), maxQuotes, func(i int) string { return "“" + quotes[i].Text + "”\n— " + quotes[i].Section }) {
		b.WriteString(q)
	}
	b.WriteString("\nchecked in\n")
	for _, location := range e.some(len(e.Locations), maxLocations, func(i int) string { return e.Locations[i] }) {
		b.WriteString(location)
	}
	if e.Verbose {
		e.operations(&b)
	} else {
		e.defects(&b)
	}
	fmt.Fprintf(&b, "\ncheck only this: outreach-conformance run --requirement %s\n", r.ID)
	fmt.Fprintf(&b, "prove only this: outreach-conformance selftest --fault %s\n", r.ID)
	_, err := io.WriteString(w, b.String())
	return err
}

// some returns the first n items as indented lines, and the number of the others.
func (e Explanation) some(n, most int, item func(int) string) []string {
	if e.Verbose {
		most = n
	}
	var shown []string
	for i := range min(n, most) {
		var text []string
		for line := range strings.SplitSeq(item(i), "\n") {
			text = append(text, "  "+indented("  ", line))
		}
		shown = append(shown, strings.Join(text, "\n")+"\n")
	}
	if n > most {
		shown = append(shown, fmt.Sprintf("  … and %d more (--verbose)\n", n-most))
	}
	return shown
}

// operationsInShort returns the number of the operations and their names.
func operationsInShort(r spec.Requirement) string {
	if n := len(r.Operations); n == len(spec.Operations()) {
		return fmt.Sprintf("all %d", n)
	}
	return fmt.Sprintf("%d: %s", len(r.Operations), strings.Join(r.Operations, ", "))
}

// defects lists a few defects.
func (e Explanation) defects(b *strings.Builder) {
	var proofs []string
	for _, op := range e.Requirement.Operations {
		for _, defect := range e.Proofs[op] {
			proofs = append(proofs, op+": "+defect)
		}
	}
	fmt.Fprintf(b, "\n%s that the self-test must catch\n", plural(len(proofs), "defect", "defects"))
	for _, defect := range e.some(len(proofs), maxProofs, func(i int) string { return "✗ " + proofs[i] }) {
		b.WriteString(defect)
	}
}

// operations lists each operation with its specs and its defects.
func (e Explanation) operations(b *strings.Builder) {
	b.WriteString("\noperations, the specs that judge it there, and the defects (✗) that prove that they can fail\n")
	for _, op := range e.Requirement.Operations {
		fmt.Fprintf(b, "  %s\n", op)
		for _, name := range e.Specs[spec.Pair{Requirement: e.Requirement.ID, Operation: op}] {
			fmt.Fprintf(b, "    %s\n", name)
		}
		for _, defect := range e.Proofs[op] {
			fmt.Fprintf(b, "      ✗ %s\n", defect)
		}
	}
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
		fmt.Fprintf(&b, "operations %s\n", strings.Join(s.Operations, ", "))
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
	return strings.Join(Wrap(text, catalogueWidth), "\n"+margin)
}

package view

import (
	"io"

	"outreach.example/conformance/spec"
)

// catalogueWidth is the number of columns of texts of the catalogue.
const catalogueWidth = 76

type (
	catalogue struct {
		Entries                                   []catalogueEntry
		Operations, Pairs, Judged, Specs, Lacking int
	}
	catalogueEntry struct {
		spec.Requirement
		Judged, Bound int                 // operations that specs judge, and all that are selected
		Lacks         map[string][]string // the operations that lack an input, by input
	}
)

// Requirements lists the requirements of the selected pairs, with the number of
// their operations that specs judge. specsOf names the specs of each pair, and
// specs is the number of all specs. lacks says what a target profile lacks for pairs that no
// spec judges with it.
func Requirements(w io.Writer, selected []spec.Pair, specsOf map[spec.Pair][]string, specs int, lacks map[spec.Pair]string) error {
	all := catalogue{Pairs: len(selected), Specs: specs, Lacking: len(lacks)}
	operations, index := map[string]bool{}, map[string]int{}
	for _, r := range spec.Requirements() {
		index[r.ID] = len(all.Entries)
		all.Entries = append(all.Entries, catalogueEntry{Requirement: r, Lacks: map[string][]string{}})
	}
	for _, p := range selected {
		operations[p.Operation] = true
		entry := &all.Entries[index[p.Requirement]]
		entry.Bound++
		switch {
		case lacks[p] != "":
			entry.Lacks[lacks[p]] = append(entry.Lacks[lacks[p]], p.Operation)
		case len(specsOf[p]) > 0:
			entry.Judged++
			all.Judged++
		}
	}
	all.Operations = len(operations)
	entries := all.Entries
	all.Entries = nil
	for _, e := range entries {
		if e.Bound > 0 {
			all.Entries = append(all.Entries, e)
		}
	}
	return textView[catalogue]("console-requirements")(w, all, Options{Width: catalogueWidth})
}

// OpenPoints lists what the specification leaves open.
func OpenPoints(w io.Writer) error {
	return textView[[]spec.OpenPoint]("console-open-points")(w, spec.OpenPoints(), Options{Width: catalogueWidth})
}

// OpenPoint explains one open point.
func OpenPoint(w io.Writer, p spec.OpenPoint) error {
	return textView[spec.OpenPoint]("console-open-point")(w, p, Options{Width: catalogueWidth})
}

// Explanation is what Requirement says about a requirement.
type Explanation struct {
	Requirement spec.Requirement
	Locations   []string               // file and line of the checks
	Specs       map[spec.Pair][]string // names of the specs that judge each pair
	Proofs      map[string][]string    // the defects that prove them, by operation
	Verbose     bool                   // list every spec and every defect
}

// Requirement explains a requirement.
func Requirement(w io.Writer, e Explanation) error {
	return textView[Explanation]("console-requirement")(w, e, Options{Width: catalogueWidth + 7, Verbose: e.Verbose})
}

// All reports whether the requirement is about all operations.
func (e Explanation) All() bool { return len(e.Requirement.Operations) == len(spec.Operations()) }

// Quotes returns the lines of the specification that the requirement follows from.
func (e Explanation) Quotes() []spec.Quote { return spec.Quotes(e.Requirement) }

// SpecsOn returns the specs that judge the requirement on an operation.
func (e Explanation) SpecsOn(operation string) []string {
	return e.Specs[spec.Pair{Requirement: e.Requirement.ID, Operation: operation}]
}

// Defects returns the defects with their operations.
func (e Explanation) Defects() (all []string) {
	for _, op := range e.Requirement.Operations {
		for _, defect := range e.Proofs[op] {
			all = append(all, op+": "+defect)
		}
	}
	return all
}

package faults

import (
	"hash/fnv"
	"slices"
	"strings"

	"outreach.example/conformance/spec"
)

// shapeDefects damage 200 answers: their status and bytes, the outer form of
// their bodies, and each field of each resource.
func shapeDefects() []Defect {
	return slices.Concat(wholeAnswerDefects(), pageFormDefects(), fieldDefects())
}

// defectID joins what is damaged, how, and where into an id; empty parts are left out.
func defectID(operation string, parts ...string) string {
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	return operation + "/" + idWords.Replace(strings.ToLower(strings.Join(parts, "-")))
}

var idWords = strings.NewReplacer(".", "-", "_", "-", " ", "-")

// sentence joins the words of a Doc; empty ones are left out.
func sentence(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
}

// drawn picks by a hash of the key, so that an addition to a table elsewhere
// does not change which defects there are.
func drawn[T any](from []T, key string) T {
	h := fnv.New32a()
	_, _ = h.Write([]byte(key)) // a hash.Hash returns no error
	return from[int(h.Sum32())%len(from)]
}

// givesOneAnswer reports whether a run may have no more than one 200 answer of
// the operation to see: what it deletes cannot be made again.
func givesOneAnswer(operation string) bool { return operation == spec.DeleteSubsequence }

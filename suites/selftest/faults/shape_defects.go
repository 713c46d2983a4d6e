package faults

import (
	"hash/fnv"
	"slices"
	"strings"

	"outreach.example/conformance/spec"
)

// shapeDefects damage 200 answers: status and bytes, the outer form of bodies,
// and each field of each resource.
func shapeDefects() []Defect {
	return slices.Concat(wholeAnswerDefects(), pageFormDefects(), fieldDefects())
}

// defectID joins the parts of an id and omits empty ones.
func defectID(operation string, parts ...string) string {
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	return operation + "/" + idWords.Replace(strings.ToLower(strings.Join(parts, "-")))
}

var idWords = strings.NewReplacer(".", "-", "_", "-", " ", "-")

// sentence joins the words of a Doc and omits empty ones.
func sentence(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
}

// drawn picks by a hash of the key, so that additions elsewhere do not change
// the set of defects.
func drawn[T any](from []T, key string) T {
	h := fnv.New32a()
	_, _ = h.Write([]byte(key)) // a hash.Hash returns no error
	return from[int(h.Sum32())%len(from)]
}

// givesOneAnswer reports whether a run may see only one 200 answer of the
// operation, because its deletion cannot be repeated.
func givesOneAnswer(operation string) bool { return operation == spec.DeleteSubsequence }

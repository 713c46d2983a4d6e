package selftest

import (
	"path"
	"slices"

	"outreach.example/conformance/spec"
)

// companions are the requirements that a defect of another one may break too, by patterns as in
// path.Match. A defect with another companion fails the self-test: a check would be charged with
// what another one is about.
var companions = []struct {
	of, with string
	why      string
}{
	{"SHAPE-*_ID-VALUE", string(spec.IsolationOwner), "an id of another form is not that of the key's workspace"},
	{"STATE-READ_ONLY-ORGANIZATION_ID", string(spec.IsolationOwner), "a test that takes over another owner belongs to another workspace"},
	{"SCOPE-SAME-ROWS", string(spec.DateOfTimestamp), "another time is on another day"},
	{"STATE-CREATE-*", "STATE-CREATE-*", "a test that is not shown lacks all its fields"},
	{"STATE-CREATE-*", "SHAPE-*", "a value of another form is not the one that was sent"},
	{"REQUEST-INVALID-*", "SHAPE-*-TYPE", "an invalid value is shown as it was sent"},
	{"PAGE-INSERT", string(spec.PageWalkOnce), "rows that move are shown twice"},
	{"PAGE-INSERT", string(spec.Status200), "a cursor is refused while rows come"},
	{"STATE-DELETE-LIST", string(spec.PageWalkOnce), "a row that is shown after its deletion is shown twice"},
	{"FILTER-*-MISSING", "FILTER-*-INCLUSIVE", "rows on the bound are among the missing ones"},
	{"SCOPE-ALL-ALL", string(spec.Status200), "the key of other requests has this scope, too"},
	{"STATUS-200", string(spec.StatusAllowed), "a request that a server may refuse gets a 500"},
	{"REQUEST-ORDER", string(spec.StatusAllowed), "a move is sent until the accounts have arrived"},
}

// isCompanion reports whether a defect of one requirement may break another one, too.
func isCompanion(of, with string) bool {
	return slices.ContainsFunc(companions, func(c struct{ of, with, why string }) bool {
		this, _ := path.Match(c.of, of) // a test reads the patterns
		that, _ := path.Match(c.with, with)
		return this && that
	})
}

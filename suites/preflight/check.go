// Package preflight checks a profile against its target in a few seconds, before
// any run. It reports whether the server responds, whether the keys have the
// scopes that the profile claims, which rows exist, and which requirements a run
// would assess. Discover does the same without a profile, and writes one.
//
// The package sends only GET requests, so it changes nothing on the target. It
// judges the profile, not the server.
package preflight

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/runner"
)

// Report is the result of Check.
type Report struct {
	Keys     []Finding // one for each key of the profile
	Data     []Finding // rows that the profile names, and rows that lists show
	Coverage []Coverage
}

// Finding is the result for one key or one group of rows.
type Finding struct {
	What  string // the key or the rows
	Says  string // the result in words
	Wrong bool   // the profile claims something that is not true
	Spent bool   // some of the rows that runs delete are gone
}

// Wrong returns the findings that require a correction of the profile.
func (r Report) Wrong() []Finding {
	return slices.DeleteFunc(slices.Concat(r.Keys, r.Data), func(f Finding) bool { return !f.Wrong })
}

// ErrNoAnswer is the error for a target that gives no usable response to the keys
// of the profile.
var ErrNoAnswer = errors.New("no usable response from the target")

// Check checks a profile against its target, for a run with the selection. An error
// means that there is no result: the server gives no usable response, nothing is
// selected, or the context has ended.
func Check(ctx context.Context, t *target.Target, selection runner.Selection) (Report, error) {
	selection.Implemented = t.Profile.Operations
	if _, err := selection.Pairs(); err != nil {
		return Report{}, err
	}
	r, err := look(ctx, t, selection)
	if err != nil {
		return Report{}, err
	}
	r.Coverage, err = Assessable(ctx, t.Profile, selection)
	return r, err
}

// look is the part of Check that sends requests.
func look(ctx context.Context, t *target.Target, selection runner.Selection) (Report, error) {
	a, err := newAsker(ctx, t)
	if err != nil {
		return Report{}, err
	}
	a.wants = selection.Operation
	defer a.api.Close()
	var r Report
	if err := a.keys(&r); err != nil {
		return Report{}, err
	}
	return r, a.data(&r)
}

// keys tries every key.
func (a *asker) keys(r *Report) error {
	r.Keys = make([]Finding, len(a.profile.Keys))
	var trying errgroup.Group
	for i, k := range a.profile.Keys {
		trying.Go(func() (err error) {
			r.Keys[i], err = a.key(k)
			return err
		})
	}
	if err := trying.Wait(); err != nil {
		return err
	}
	if a.profile.Mint != nil {
		r.Keys = append(r.Keys, a.minted())
	}
	return nil
}

// key checks one key with a list that its scopes allow it to read. It does not
// check write access.
func (a *asker) key(k profile.Key) (Finding, error) {
	lists := a.lists()
	if len(lists) == 0 {
		return Finding{What: "key " + k.Name, Says: "not tried: no list is implemented and selected"}, nil
	}
	op, readable := readableBy(k.Scopes, lists)
	got := a.list(op, k, nil)
	if got.err != nil {
		return Finding{}, fmt.Errorf("%w: %w", ErrNoAnswer, got.err)
	}
	want := http.StatusOK
	switch k.State {
	case profile.KeyRevoked:
		want = http.StatusUnauthorized
	case profile.KeyUnpaid:
		want = http.StatusPaymentRequired
	}
	f := Finding{What: "key " + k.Name}
	switch {
	case !readable && k.State == profile.KeyActive && got.status/100 != 2:
		f.Says = fmt.Sprintf("%s returns %d, as its scopes require; reads cannot show what the key may do", op.ID, got.status)
	case !readable && k.State == profile.KeyActive:
		f.Says = fmt.Sprintf("%s returns %d, which its scopes %q do not allow: the key has other scopes, or the server does not enforce them", op.ID, got.status, k.Scopes)
	case got.status == want:
		f.Says = fmt.Sprintf("%s: %s returns %d", k.State, op.ID, got.status)
	default:
		f.Wrong = true
		f.Says = fmt.Sprintf("%s returns %d, want %d for a key with the state %s and the scopes %q", op.ID, got.status, want, k.State, k.Scopes)
	}
	return f, nil
}

// readableBy returns one of the lists that the scopes allow to read, or else another
// list and false.
func readableBy(scopes []string, lists []spec.Operation) (spec.Operation, bool) {
	for _, op := range lists {
		if slices.ContainsFunc(op.Scope.Alternatives(), func(s string) bool { return slices.Contains(scopes, s) }) {
			return op, true
		}
	}
	if i := slices.IndexFunc(lists, func(op spec.Operation) bool { return op.ID == spec.ListPhoneNumbers }); i >= 0 {
		return lists[i], false
	}
	return lists[0], false
}

// minted runs the mint command once and tries the key.
func (a *asker) minted() Finding {
	f := Finding{What: "mint"}
	scoped := slices.DeleteFunc(a.lists(), func(op spec.Operation) bool { return op.Scope == spec.Scope{} })
	if len(scoped) == 0 {
		f.Says = "not tried: no list with a scope is implemented and selected"
		return f
	}
	op := readable(scoped)
	key, ok := a.profile.ScopedKey(dataset.Main, op.Scope.Alternatives()[0])
	if !ok {
		f.Wrong, f.Says = true, "no key was minted: "+strings.Join(a.profile.Warnings(), "; ")
		return f
	}
	got := a.list(op, key, nil)
	f.Wrong = got.status != http.StatusOK
	f.Says = fmt.Sprintf("%s returns %d for the key %s", op.ID, got.status, key.Name)
	return f
}

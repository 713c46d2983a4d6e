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
)

// Report is what Check has found.
type Report struct {
	Keys     []Finding // one for each key of the profile
	Data     []Finding // rows that the profile names, and rows that lists show
	Coverage []Coverage
}

// Finding is one thing that was looked at.
type Finding struct {
	What string // the key, the rows
	Says string // what was found
	// Wrong: the profile claims something that does not hold.
	Wrong bool
	// Spent: some of the rows that runs delete are gone.
	Spent bool
}

// Wrong returns the findings that the profile has to be put right for.
func (r Report) Wrong() []Finding {
	return slices.DeleteFunc(slices.Concat(r.Keys, r.Data), func(f Finding) bool { return !f.Wrong })
}

// ErrNoAnswer: the target does not answer as far as can be told with the profile.
var ErrNoAnswer = errors.New("the target gives no answer that can be used")

// Check looks at a target and its profile. Its error means that it could not be
// told: the server does not answer, or the context has ended.
func Check(ctx context.Context, t *target.Target) (Report, error) {
	r, err := look(ctx, t)
	if err != nil {
		return Report{}, err
	}
	r.Coverage, err = Assessable(ctx, t.Profile)
	return r, err
}

// look is the part of Check that asks the target.
func look(ctx context.Context, t *target.Target) (Report, error) {
	a, err := newAsker(ctx, t)
	if err != nil {
		return Report{}, err
	}
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

// key tries whether a key is what the profile says, by a list that its scopes
// allow to read. What it may change is not tried.
func (a *asker) key(k profile.Key) (Finding, error) {
	op, readable := readableBy(k.Scopes)
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
		f.Says = fmt.Sprintf("refused for %s (%d), as its scopes have it; what it may do cannot be tried by reading", op.ID, got.status)
	case !readable && k.State == profile.KeyActive:
		f.Says = fmt.Sprintf("answered %d for %s, which its scopes %q do not allow: they are others, or the server lets them through", got.status, op.ID, k.Scopes)
	case got.status == want:
		f.Says = fmt.Sprintf("%s: answered %d for %s", k.State, got.status, op.ID)
	default:
		f.Wrong = true
		f.Says = fmt.Sprintf("answered %d for %s, want %d of a key that is %s and has the scopes %q", got.status, op.ID, want, k.State, k.Scopes)
	}
	return f, nil
}

// readableBy returns a list that the scopes allow to read; else one that they do not.
func readableBy(scopes []string) (spec.Operation, bool) {
	for _, op := range lists() {
		if slices.ContainsFunc(op.Scope.Alternatives(), func(s string) bool { return slices.Contains(scopes, s) }) {
			return op, true
		}
	}
	return spec.MustOperation(spec.ListPhoneNumbers), false
}

// minted tries the mint command once.
func (a *asker) minted() Finding {
	f := Finding{What: "mint"}
	key, ok := a.profile.ScopedKey(dataset.Main, spec.MustOperation(spec.ListLeadLists).Scope.Alternatives()[0])
	if !ok {
		f.Wrong, f.Says = true, "made no key: "+strings.Join(a.profile.Warnings(), "; ")
		return f
	}
	got := a.list(spec.MustOperation(spec.ListLeadLists), key, nil)
	f.Wrong = got.status != http.StatusOK
	f.Says = fmt.Sprintf("the key %s is answered %d for %s", key.Name, got.status, spec.ListLeadLists)
	return f
}

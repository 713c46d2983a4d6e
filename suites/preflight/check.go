// Package preflight checks a profile against its target in a few seconds, before
// any run. It reports whether the server responds, whether the keys have the
// scopes that the profile claims, which rows exist, and which requirements a run
// would assess. Discover does the same without a profile, and writes one.
//
// The package changes nothing on the target, unless the command of mint makes keys there. Besides GET requests it sends only
// requests that cannot change a row: without a key, with an unknown id or with an
// invalid body. It judges the profile, not the server.
package preflight

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/runner"
)

// Report is the result of Check.
type Report struct {
	Keys       []Finding // one for each key of the profile
	Operations []Finding // operations that the target does not serve, and parameters that it ignores
	Data       []Finding // rows that the profile names, and rows that lists show
	Coverage   []Coverage
}

// Finding is the result for one key or one group of rows.
type Finding struct {
	What  string // the key or the rows
	Says  string // the result in words
	Wrong bool   // the profile claims something that is not true
	Spent bool   // some of the rows that runs delete are gone

	useless bool // no check can use the key
}

// keyed begins what a finding is about if that is a key, whose name follows.
const keyed = "key "

// Wrong returns the findings that require a correction of the profile.
func (r Report) Wrong() []Finding {
	return slices.DeleteFunc(slices.Concat(r.Keys, r.Operations, r.Data), func(f Finding) bool { return !f.Wrong })
}

// Assessable returns how many checks a run would assess.
func (r Report) Assessable() int {
	n := 0
	for _, c := range r.Coverage {
		n += c.Assessable
	}
	return n
}

// Lacking returns the input that most checks lack; the zero Missing if none lacks one.
func (r Report) Lacking() Missing {
	var most Missing
	for _, c := range r.Coverage {
		for _, m := range c.Missing {
			if m.Pairs > most.Pairs {
				most = m
			}
		}
	}
	return most
}

// errNoAnswer is the error for a target that gives no usable response to the keys
// of the profile.
var errNoAnswer = errors.New("no usable response from the target")

// Check checks a profile against its target, for a run with the selection. An error
// means that there is no result: the server gives no usable response, nothing is
// selected, or the context has ended. say receives what Check waits for. It may be nil.
func Check(ctx context.Context, t *target.Target, selection runner.Selection, say func(string)) (Report, error) {
	selection = selection.For(t.Profile)
	if _, err := selection.Pairs(); err != nil {
		return Report{}, err
	}
	r, reach, err := look(ctx, t, selection, say)
	if err != nil {
		return Report{}, err
	}
	r.Coverage, err = assessable(t.Profile, selection, reach)
	return r, err
}

// look is the part of Check that sends requests.
func look(ctx context.Context, t *target.Target, selection runner.Selection, say func(string)) (Report, reach, error) {
	a, err := newAsker(ctx, t, say)
	if err != nil {
		return Report{}, reach{}, err
	}
	a.wants = selection.Operation
	defer a.api.Close()
	a.operationsServed()
	a.parameters()
	if err = a.keys(); err == nil {
		err = a.data()
	}
	return a.Report, a.reach(), err
}

// operationsServed reports the operations that the profile lists and the target does
// not serve. If a run may change nothing, only GET requests are sent.
func (a *asker) operationsServed() {
	key, ok := a.anyKey()
	if !ok {
		return
	}
	a.served = a.findServed(slices.DeleteFunc(a.operations(), func(op spec.Operation) bool { return op.Unsafe() && a.profile.Writes == profile.WritesNone }), key)
	if absences := a.served.absences(); absences != "" {
		a.Operations = []Finding{{What: "operations", Wrong: true,
			Says: "the target does not serve " + absences + ": exclude them under `operations`, or implement them"}}
	}
}

// anyKey returns the main key, or else another one that the target should accept.
func (a *asker) anyKey() (profile.Key, bool) {
	if key, ok := a.profile.FullKey(dataset.Main); ok {
		return key, true
	}
	if i := slices.IndexFunc(a.profile.Keys, func(k profile.Key) bool { return k.State == profile.KeyActive }); i >= 0 {
		return a.profile.Keys[i], true
	}
	return profile.Key{}, false
}

// reach returns what the keys of a run do not reach.
func (a *asker) reach() reach {
	out := reach{useless: map[string]bool{}, barred: map[string]string{}}
	for _, f := range a.Keys {
		if name, isKey := strings.CutPrefix(f.What, keyed); isKey {
			out.useless[name] = f.useless || f.Wrong
		} else {
			out.noMint = f.Wrong
		}
	}
	for id, status := range a.served.absent {
		if status == 0 {
			continue
		}
		out.barred[id] = fmt.Sprintf("the operation %s, which the target does not serve", id)
	}
	for id := range a.denied {
		out.barred[id] = fmt.Sprintf("a key of the workspace %q that may read %s", dataset.Main, id)
	}
	return out
}

// keys tries every key.
func (a *asker) keys() error {
	a.Keys = make([]Finding, len(a.profile.Keys))
	var trying errgroup.Group
	for i, k := range a.profile.Keys {
		trying.Go(func() (err error) {
			a.Keys[i], err = a.key(k)
			return err
		})
	}
	if err := trying.Wait(); err != nil {
		return err
	}
	if a.profile.Mint != nil {
		a.Keys = append(a.Keys, a.minted())
	}
	return nil
}

// key checks one key with a list that its scopes allow it to read, or else with another
// list. It does not check write access.
func (a *asker) key(k profile.Key) (Finding, error) {
	f, lists := Finding{What: keyed + k.Name}, a.lists()
	if len(lists) == 0 {
		f.Says = "not tried: no list is implemented and selected"
		return f, nil
	}
	by := slices.DeleteFunc(slices.Clone(lists), func(op spec.Operation) bool { return !k.Reads(op) })
	mayNotRead := len(by) == 0 && k.State == profile.KeyActive
	if len(by) == 0 {
		by = []spec.Operation{readable(lists)}
	}
	var op spec.Operation
	var got answer
	for _, op = range by[:min(len(by), mostTried)] {
		if got = a.list(op, k, nil); got.status == 0 {
			return Finding{}, fmt.Errorf("%w: %w", errNoAnswer, got.err)
		}
		if k.State != profile.KeyActive || !got.refused() {
			break // one list that refuses a key may be the mistake of the server
		}
	}
	want := map[string]int{profile.KeyActive: http.StatusOK, profile.KeyRevoked: http.StatusUnauthorized, profile.KeyUnpaid: http.StatusPaymentRequired}[k.State]
	f.Says = fmt.Sprintf("%s returns %d", op.ID, got.status)
	switch {
	case mayNotRead && a.likeUnknownKey(op, k):
		f.useless = len(k.Scopes) == 0 // it shows nothing about scopes
		f.Says += ", as to a key that does not exist: this does not show whether the key is valid, nor anything about scopes"
	case mayNotRead && got.status/100 != 2:
		f.Says += ", as its scopes require; reads cannot show what the key may do"
	case mayNotRead:
		f.Says += fmt.Sprintf(", which its scopes %q do not allow: the key has other scopes, or the server does not enforce them", k.Scopes)
	case got.status == want:
		f.Says = k.State + ": " + f.Says
	default:
		f.Wrong = true
		f.Says += fmt.Sprintf(", want %d for a key with the state %s and the scopes %q", want, k.State, k.Scopes)
	}
	return f, nil
}

// likeUnknownKey reports whether the target refuses the key exactly as it refuses a key
// that does not exist.
func (a *asker) likeUnknownKey(op spec.Operation, k profile.Key) bool {
	unknown := profile.Key{Name: "unknown", Token: "unknown-" + uuid.NewString()}
	given, made := a.sign(probe{op: op, path: op.Path}, &k), a.sign(probe{op: op, path: op.Path}, &unknown)
	return given.status/100 == 4 && given.same(made)
}

// mostTried is how many lists are tried with a key.
const mostTried = 3

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
		f.Wrong, f.Says = true, "no key was minted: "+strings.Join(a.profile.MintFailures(), "; ")
		return f
	}
	got := a.list(op, key, nil)
	f.Wrong = got.status != http.StatusOK
	f.Says = fmt.Sprintf("%s returns %d for the key %s", op.ID, got.status, key.Name)
	return f
}

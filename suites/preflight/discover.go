package preflight

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/lookup"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/spec"
)

// Bounds of what a discovered profile names.
const (
	mostSubsequences = 40
	mostTests        = 5
)

// maxPages bounds how many pages of subsequences are read.
const maxPages = 50

// keyName is the name of the one key of a discovered profile.
const keyName = "main"

// Discover returns a profile for the target, filled with what the API shows of the
// token's workspace. notes say, one per line, what it found and what the user has
// to fill in. The profile names the environment variable instead of the token.
//
// The profile lists nothing that a run may delete, and lets a run change only what
// the run itself created. say receives what Discover waits for. It may be nil.
func Discover(ctx context.Context, t *target.Target, token, tokenEnv string, say func(string)) (found *profile.Profile, notes []string, err error) {
	key := profile.Key{Name: keyName, Token: token, TokenEnv: tokenEnv, Workspace: dataset.Main, State: profile.KeyActive}
	p := *t.Profile
	p.Keys = []profile.Key{key}
	a, err := newAsker(ctx, &target.Target{BaseURL: t.BaseURL, TLS: t.TLS, Profile: &p}, say)
	if err != nil {
		return nil, nil, err
	}
	defer a.api.Close()
	d := &discovery{asker: a, key: key, first: map[string]answer{}}
	if err := d.look(); err != nil {
		return nil, nil, err
	}
	d.fill()
	return d.profile, d.notes, nil
}

// discovery is the state of Discover, which fills the asker's profile.
type discovery struct {
	*asker
	key   profile.Key
	first map[string]answer // by operation: a page without parameters
	notes []string
}

// note adds a line, which may quote the target.
func (d *discovery) note(format string, args ...any) {
	d.notes = append(d.notes, printable.Text(fmt.Sprintf(format, args...)))
}

// refusedKey says what to do if every list refuses the key, by status.
var refusedKey = map[int]string{
	http.StatusUnauthorized:    "is the key valid on this server?",
	http.StatusPaymentRequired: "the key's workspace has no active paid plan: use a key of one that has",
	http.StatusForbidden:       "the key has no permission to read: give it the scope all:all",
}

// look reads the first page of every list and finds out which operations are served.
func (d *discovery) look() error {
	shown, statuses := 0, map[int]int{}
	var wrong, absent error // of the first list that is not shown, or that does not seem to be served
	for _, op := range d.lists() {
		got := d.list(op, d.key, nil)
		if got.status == 0 {
			return fmt.Errorf("%w: %w", errNoAnswer, got.err)
		}
		statuses[got.status]++
		switch {
		case got.err == nil:
			shown++
		case spec.MeansUnserved(got.status):
			absent = cmp.Or(absent, got.problem(op))
		default:
			wrong = cmp.Or(wrong, got.problem(op))
		}
		d.first[op.ID] = got
	}
	for status, advice := range refusedKey {
		if statuses[status] == len(d.first) {
			return fmt.Errorf("%w: every list returns %d (%s)", errNoAnswer, status, advice)
		}
	}
	if shown == 0 {
		return fmt.Errorf("%w: no list can be read: %w (is %s the address in front of /api/v2, and is the key allowed to read?)",
			errNoAnswer, cmp.Or(wrong, absent), d.profile.BaseURL)
	}
	d.served = d.findServed(slices.DeleteFunc(spec.Operations(), func(op spec.Operation) bool { return d.first[op.ID].status == http.StatusOK }), d.key)
	return nil
}

// fill fills the profile.
func (d *discovery) fill() {
	w := profile.Workspace{ID: d.workspaceID()}
	d.operationsServed()
	d.scopes()
	d.rows(&w)
	d.parameters()
	d.key.Token = ""
	d.profile.Keys = []profile.Key{d.key}
	d.profile.Workspaces = map[string]profile.Workspace{dataset.Main: w}
	d.profile.Writes = profile.WritesOwn
	d.note("no operation lists leads, sending accounts and campaigns without subsequences: add them under workspaces.%s", dataset.Main)
	d.note("a run may change only what it creates (writes: own); to allow more, list the rows and set writes: listed")
}

// workspaceID returns the first workspace that a row names as its owner.
func (d *discovery) workspaceID() string {
	for _, op := range d.lists() {
		for _, row := range d.first[op.ID].Rows {
			if owner := redact.Process.Text(lookup.OwnerOf(op, row.Value)); uuid.Validate(owner) == nil {
				return owner
			}
		}
	}
	d.note("no row shows the id of the workspace: workspaces.%s.id is a placeholder", dataset.Main)
	return uuid.Nil.String()
}

// operationsServed lists the operations that the target serves, unless it serves all.
func (d *discovery) operationsServed() {
	if doubts := d.served.doubts(); len(doubts) > 0 {
		d.note("harmless requests do not show whether the server implements %s: if it does not, exclude them under operations", strings.Join(doubts, ", "))
	}
	absences := d.served.absences()
	if absences == "" {
		return
	}
	d.profile.Operations = slices.DeleteFunc(spec.OperationIDs(), func(id string) bool { return d.served.absent[id] != 0 })
	d.note("the server does not implement %s: operations lists the other %d", absences, len(d.profile.Operations))
}

// scopes finds out which lists the key may read. It assumes, and notes, that the
// key may change what it can read.
func (d *discovery) scopes() {
	var readable, refused []string
	for _, op := range d.lists() {
		switch got := d.first[op.ID]; {
		case got.refused():
			refused = append(refused, fmt.Sprintf("%s (%d)", op.ID, got.status))
		case got.err != nil:
			d.note("%v: no check can use its rows", got.problem(op))
		default:
			readable = append(readable, op.Scope.Alternatives()[0])
		}
	}
	if len(refused) == 0 {
		d.key.Scopes = []string{"all:all"}
		d.note("the key can read every list: its scopes are assumed to be all:all; correct them if they are not")
		return
	}
	d.key.Scopes = slices.Compact(slices.Sorted(slices.Values(readable)))
	d.note("the key is refused for %s: most checks need a key with the scope all:all", strings.Join(refused, ", "))
}

// rows collects ids from the lists.
func (d *discovery) rows(w *profile.Workspace) {
	if d.first[spec.ListSubsequences].status == http.StatusOK {
		list := paging.List(d.api.Do, request(spec.MustOperation(spec.ListSubsequences), d.key, nil), profile.ParamStartingAfter)
		walk := paging.Run(d.ctx, list, paging.Fixed(spec.MaxLimit), maxPages)
		if walk.Err != nil {
			d.note("not all subsequences were read: %v", walk.Err)
		}
		all, campaigns := walk.Rows(), map[string]bool{}
		for _, row := range all {
			campaigns[text(row, "parent_campaign")] = true
			w.Subsequences = appendID(w.Subsequences, text(row, "id"), mostSubsequences)
			w.Campaigns = appendID(w.Campaigns, text(row, "parent_campaign"), mostSubsequences)
		}
		what := fmt.Sprintf("found %d subsequences of %d campaigns", len(all), len(campaigns))
		if len(all) > len(w.Subsequences) {
			what += fmt.Sprintf(" and listed the first %d", len(w.Subsequences))
		}
		d.note("%s; none is expendable: move those that a run may delete to expendable_subsequences", what)
	}
	tests := ids(d.first[spec.ListPlacementTests].Rows)
	w.PlacementTests = tests[:min(len(tests), mostTests)]
	for _, row := range d.first[spec.ListGroupMembers].Rows {
		if admin := strings.ToLower(text(row, "admin_workspace_id")); admin == w.ID {
			sub := judge.Clip(text(row, "sub_workspace_id"))
			if name := text(row, "sub_workspace_name"); name != "" {
				sub += " (" + judge.Clip(name) + ")"
			}
			d.note("this is the admin workspace of %s: for account moves, list it as %s too, with its own key, and its sub-workspaces as %s and %s",
				sub, dataset.Admin, dataset.SubA, dataset.SubB)
			break
		}
	}
	defaults := map[int][]string{}
	for _, op := range d.lists() {
		if got := d.first[op.ID]; got.Cursor != "" && d.hasMore(op, got) {
			defaults[len(got.Rows)] = append(defaults[len(got.Rows)], op.ID)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(defaults)) {
		d.note("a page without a limit shows %d rows: %s", n, strings.Join(defaults[n], ", "))
	}
}

// hasMore reports whether the list has more rows than a page without a limit shows. A
// cursor does not say so: the last page may have one, too.
func (d *discovery) hasMore(op spec.Operation, page answer) bool {
	largest := d.list(op, d.key, url.Values{"limit": {strconv.Itoa(spec.MaxLimit)}})
	return len(page.Rows) == spec.MaxLimit || len(largest.Rows) > len(page.Rows)
}

// parameters looks for the parameters that the specification does not name. It
// tries the names that public clients use, and keeps those that change the response.
func (d *discovery) parameters() {
	found := map[string]map[string]string{}
	for _, op := range d.lists() {
		var unclear []string
		for _, meaning := range profile.Params(op.ID) {
			names := append([]string{op.Parameter(meaning).Name}, alternatives[meaning]...)
			at := slices.IndexFunc(names, func(name string) bool {
				heeded, _ := d.heeds(op, d.key, d.first[op.ID], meaning, name)
				return heeded
			})
			if at < 0 {
				unclear = append(unclear, meaning+hints[meaning])
				continue
			}
			name := names[at]
			if found[op.ID] == nil {
				found[op.ID] = map[string]string{}
			}
			found[op.ID][meaning] = name
		}
		if len(unclear) > 0 {
			d.note("%s: no name was found for the parameters %s", op.ID, strings.Join(unclear, ", "))
		}
	}
	d.profile.Parameters = found
}

// hints say what the specification describes where the key of a parameter does not.
var hints = map[string]string{
	profile.ParamParentCampaignNot: " (a campaign whose subsequences are left out)",
}

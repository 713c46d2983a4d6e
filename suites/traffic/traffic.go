// Package traffic judges exchanges that other programs sent: those of a browser, of a proxy
// or of an end-to-end suite. It sends nothing.
//
// The rules of a run judge each exchange (one.go, expected.go). Rules on several exchanges judge what
// the recording shows together: walks (walks.go), and what is asked and shown of one row (rows.go).
// Other clients may change the target meanwhile. So nothing fails that their legal changes explain:
// a row is missing only if it is shown before and after, and nobody seems to have deleted it.
//
// The catalogue, the profile and the exchanges are all that it knows. It does not use what a
// recorded run knew of its own requests, but for the names of its keys.
package traffic

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/onsi/gomega/types"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/internal/evidence"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/jsonfile"
	"outreach.example/conformance/reports/summary"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/api"
)

// maxMemory is how much memory the exchanges take that are judged together. Those after them
// are judged as another recording.
const maxMemory = 32 << 20

// What an exchange and a part of it take beside what they hold.
const perExchange, perPart = 4 << 10, 64

// Judge judges exchanges. It is not safe for concurrent use.
type Judge struct {
	SeesKeys bool // the exchanges have all headers that were sent: a request without a key had none
	Others   int  // exchanges that are not of the API, or without a whole response
	Unjudged int  // refusals that could not wait for the end of the recording

	profile *profile.Profile
	known   bool // the caller has described the target
	rules   *judge.Rules
	clients *refserver.Clients
	ledger  *judge.Ledger

	// What the whole recording shows.
	keys      map[string]*key     // by their tokens
	hidden    map[string]bool     // secrets beside keys
	sendsKeys map[string]bool     // by the host and the program
	edits     bool                // whether requests that name no operation may have changed rows
	uses      map[string]*use     // by operation; nil for one that no exchange has
	cursors   map[digest]bool     // that pages returned, by operation
	owners    map[string][]string // roles of the workspaces in which a row was seen, by its id
	refusals  []func()            // enter the refusals that wait for the end of the recording
	waiting   int                 // bytes of memory that they take

	segment []*exchange               // that are judged together
	shared  map[string]map[string]any // values of rows in the segment, by resource and key
	memory  int                       // that the segment takes

	results     reports.Results // without what the ledger says
	first, last time.Time
}

// New returns a judge without exchanges. The profile may be nil.
func New(p *profile.Profile) (*Judge, error) {
	rules, err := judge.NewRules()
	if err != nil {
		return nil, err
	}
	clients, err := refserver.NewClients(nil)
	if err != nil {
		return nil, err
	}
	j := &Judge{profile: cmp.Or(p, &profile.Profile{}), known: p != nil, clients: clients, ledger: judge.NewLedger(spec.Pairs()), keys: map[string]*key{}, hidden: map[string]bool{}, sendsKeys: map[string]bool{},
		uses: map[string]*use{}, cursors: map[digest]bool{}, owners: map[string][]string{}, shared: map[string]map[string]any{}, results: reports.Results{Version: reports.ModelVersion}}
	j.rules = rules.Omitting(j.profile.Omits...)
	j.results.Target = reports.Target{Name: j.profile.Name, Version: j.profile.Version, Vendor: j.profile.Vendor}
	j.results.Traffic.Statuses = map[string]int{}
	for role, w := range j.profile.Workspaces {
		for _, e := range w.Entries() {
			for _, id := range e.IDs {
				j.own(role, id)
			}
		}
	}
	return j, nil
}

// Add judges an exchange. Its error says what of the entry cannot be read.
func (j *Judge) Add(e evidence.Entry) error {
	total := &j.results.Traffic
	total.Requests++
	x, ok, err := j.exchangeOf(e)
	if err != nil || !ok {
		j.Others++
		return err
	}
	j.results.Target.BaseURL = cmp.Or(j.results.Target.BaseURL, x.host)
	if j.first.IsZero() || x.Sent.Before(j.first) {
		j.first = x.Sent
	}
	if x.ended.After(j.last) {
		j.last = x.ended
	}
	total.Statuses[strconv.Itoa(x.Status)]++
	total.BytesReceived += int64(len(x.Body))
	if j.uses[x.op().ID] == nil {
		j.uses[x.op().ID] = &use{keys: map[*key]bool{}, forms: map[spec.ID]bool{}}
	}
	j.judgeOne(x)
	j.segment = append(j.segment, x)
	if j.memory += x.memory(); j.memory > maxMemory {
		j.conclude()
	}
	return nil
}

// conclude judges the exchanges of the segment together, and forgets them.
func (j *Judge) conclude() {
	slices.SortStableFunc(j.segment, func(a, b *exchange) int {
		return cmp.Or(a.Sent.Compare(b.Sent), a.Exchange.Request.Place-b.Exchange.Request.Place)
	})
	walks, rows := j.walks(), j.histories()
	j.judgeWalks(walks, rows)
	j.judgeRows(walks, rows)
	j.segment, j.shared, j.memory = nil, map[string]map[string]any{}, 0
}

// Results ends the recording and returns what came of it. Who made it and when is up to the caller.
func (j *Judge) Results() reports.Results {
	j.conclude()
	for _, enter := range j.refusals {
		enter()
	}
	j.refusals = nil
	for id, u := range j.uses {
		if u.unserved != nil && !u.known {
			j.charge(spec.Served, id, u.unserved, "status", "a status other than 404, 405 and 501 to some request", u.unserved.Describe())
		}
	}
	for _, p := range spec.Pairs() {
		if !j.ledger.Known(p) {
			j.ledger.Missing(p, j.lacks(p))
		}
	}
	results := j.results
	results.Checks, results.Observations, results.Troubles = j.ledger.Checks(), j.ledger.Observations(), j.ledger.Troubles()
	results.Run = reports.Run{Started: j.first.UTC(), Seconds: j.last.Sub(j.first).Seconds(), Profile: string(spec.ProfileFull)}
	judge.Conclude(&results)
	results.Levels = summary.Levels(results.Checks)
	return reports.Shrink(results, jsonfile.Fits)
}

// lacks says why nothing is known of a pair.
func (j *Judge) lacks(p spec.Pair) string {
	r, _ := spec.FindRequirement(p.Requirement)
	byKey := slices.Contains([]spec.Group{spec.GroupKeys, spec.GroupIsolation, spec.GroupBilling}, r.Group)
	switch id := spec.ID(p.Requirement); {
	case j.uses[p.Operation] == nil:
		return "a request of " + p.Operation + " in the recording"
	case byKey && len(j.keys) == 0:
		return "the keys of the requests: the recording leaves the Authorization header out"
	case byKey && !j.known:
		return "what the keys of the requests may do (--target-profile)"
	case strings.HasSuffix(p.Requirement, "-NO-EFFECT"), id == spec.StateDeleteOthers, id == spec.IsolationUntouched, id == spec.ScopeEffect:
		return "proof that no other client changed anything"
	case r.Group == spec.GroupRate:
		return "the rate limit of the target: judge sends no requests to exceed it"
	}
	return "exchanges that put it to the test"
}

// counts enters that a requirement was put to the test and held. Like charge, it does nothing if the
// catalogue does not bind the requirement to the operation.
func (j *Judge) counts(id spec.ID, operation string, times int) {
	if p := id.On(operation); times > 0 && spec.Has(p) {
		j.ledger.Assessed(p, times)
	}
}

// charge enters what an exchange shows that breaks a requirement.
func (j *Judge) charge(id spec.ID, operation string, x *exchange, pointer, expected, actual string) {
	p := id.On(operation)
	if !spec.Has(p) {
		return
	}
	j.ledger.ViolatedAs(p, reports.Violation{Spec: x.String(), Pointer: pointer, Expected: expected, Actual: actual}, func(v reports.Violation) reports.Violation {
		v.Pointer, v.Expected, v.Actual = redact.Process.Text(v.Pointer), redact.Process.Text(v.Expected), redact.Process.Text(v.Actual)
		v.Curl, v.Body = x.Exchange.Curl()+" # "+x.String(), x.Exchange.Excerpt(reports.MaxBody)
		return v
	})
}

// expect enters whether a response meets one of our matchers.
func (j *Judge) expect(r api.Response, id spec.ID, operation string, m types.GomegaMatcher) {
	j.enterVerdict(id, operation, verdictOf(m, r))
}

// verdictOf returns what one of our matchers finds.
func verdictOf(m types.GomegaMatcher, actual any) api.Verdict {
	_, _ = m.Match(actual) // ours only fail on another type
	return api.VerdictOf(m, actual, "")
}

// enterVerdict enters what a matcher found. The findings name their exchanges.
func (j *Judge) enterVerdict(id spec.ID, operation string, found api.Verdict) {
	if len(found.Findings) == 0 {
		j.counts(id, operation, found.Assessed)
	}
	for _, f := range found.Findings {
		j.charge(id, operation, &exchange{Response: f.Response}, f.Pointer, f.Expected, f.Actual)
	}
}

// Clients returns what clients have sent that the specification does not allow.
func (j *Judge) Clients() refserver.ClientReport { return j.clients.Report() }

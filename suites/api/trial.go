package api

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

// Trial is what came of a body that is no spec of the tree. Package explore runs many of
// them.
type Trial struct {
	Evidence *judge.Ledger
	Broken   []Broken // in the order in which they were found
	Lacked   string   // why the body ended early; "" if it did not

	aside    bool
	requests []client.Step
}

// Shown returns the requests of the body up to the one that shows the violation, as
// commands: what came later does not matter.
func (t Trial) Shown(b Broken) []string {
	shown := t.requests
	if 0 < b.noted && b.noted < len(shown) {
		shown = shown[:b.noted]
	}
	return client.Steps(shown)
}

// Broken is one violation.
type Broken struct {
	Pair spec.Pair
	reports.Violation

	noted int // Response.noted of the response that shows it
}

// maxBroken is how many violations a trial keeps.
const maxBroken = 100

// Try runs a body outside of the tree, and rolls back what it changed. The seed decides
// its random names. Whatever the rules see in its responses counts.
func Try(ctx context.Context, env *Env, name string, seed uint64, body func(*API)) Trial {
	env.Begin()
	s := Spec{Title: name, Body: func(_ ginkgo.SpecContext, api *API) { body(api) }}
	limited, cancel := context.WithTimeout(ctx, env.Longest())
	defer cancel()
	api := newAPI(limited, env, s, seed)
	api.trial = &Trial{Evidence: api.Evidence}
	api.judgeAll()
	api.restore()
	api.kept.release()
	return *api.trial
}

// EndTrials gives back what trials held on the target.
func (e *Env) EndTrials(ctx context.Context) { e.Sandbox().Close(ctx) }

// Outside returns the evidence of what happened beside specs and trials, such as a
// rollback that failed.
func (e *Env) Outside() *judge.Ledger {
	e.Begin()
	return e.outside
}

// Charge records a violation of the requirement on the operation.
func Charge(api *API, id spec.ID, operation string, f Finding) {
	Violated(api, id.On(operation), f, "")
}

// Count records that the requirement was put to the test and held so often.
func Count(api *API, id spec.ID, operation string, times int) {
	if spec.Has(id.On(operation)) && times > 0 {
		api.Evidence.Assessed(id.On(operation), times)
	}
}

// noted returns how many requests the trial has noted.
func (api *API) noted() int {
	api.mu.Lock()
	defer api.mu.Unlock()
	if api.trial == nil {
		return 0
	}
	return len(api.trial.requests)
}

// forget drops the requests that the trial has noted after the first since.
func (api *API) forget(since int) {
	api.mu.Lock()
	defer api.mu.Unlock()
	if api.trial != nil && !api.trial.aside {
		api.trial.requests = api.trial.requests[:min(since, len(api.trial.requests))]
	}
}

// broke notes a violation for the trial.
func (api *API) broke(p spec.Pair, f Finding) {
	api.mu.Lock()
	defer api.mu.Unlock()
	if api.trial == nil || len(api.trial.Broken) >= maxBroken {
		return
	}
	v := reports.Violation{Pointer: redact.Process.Text(f.Pointer), Expected: redact.Process.Text(f.Expected), Actual: redact.Process.Text(f.Actual)}
	if f.Response.Exchange.Request.Path != "" {
		v.Curl, v.Body = f.Response.curl(p, v.Expected+"\n"+v.Actual, api.made), f.Response.shown()
	}
	api.trial.Broken = append(api.trial.Broken, Broken{p, v, f.Response.noted})
}

// Broke reports whether the trial has shown a violation of a wanted requirement.
func Broke(api *API, wanted func(spec.Pair) bool) bool {
	api.mu.Lock()
	broken := slices.Clone(api.trial.Broken)
	api.mu.Unlock()
	return slices.ContainsFunc(broken, func(b Broken) bool { return wanted(b.Pair) })
}

// sent notes a request, if it is meant to change something, and for the trial. It returns
// the changes before it, and how many requests the trial has noted with it; 0 if it is not
// noted.
func (api *API) sent(r Response) (before []client.Step, noted int) {
	api.mu.Lock()
	defer api.mu.Unlock()
	step := client.Step{Exchange: client.Exchange{Request: r.Request, Status: r.Status}}
	if r.Call.Provoked && r.Status == http.StatusTooManyRequests {
		step.Limit = judge.Smallest()
	}
	if r.Call.Operation.ID == spec.CreatePlacementTest {
		step.Made = r.ID()
	}
	before = slices.Clip(api.changes)
	if r.Changes() && len(api.changes) < mostChanges {
		api.changes = append(api.changes, step)
	}
	if api.trial == nil || api.trial.aside || r.repeat == nil {
		return before, 0
	}
	api.trial.requests = append(api.trial.requests, step)
	return before, len(api.trial.requests)
}

// Aside does work whose requests are not part of what the trial tries.
func Aside(api *API, work func()) {
	set := func(aside bool) {
		api.mu.Lock()
		defer api.mu.Unlock()
		if api.trial != nil {
			api.trial.aside = aside
		}
	}
	set(true)
	defer set(false)
	work()
}

// NewTestFields says what a creation sends beside the required fields.
type NewTestFields struct {
	Optional []string          `json:"optional,omitempty"`  // fields, with a valid value
	Null     []string          `json:"null,omitempty"`      // fields, with null
	ReadOnly string            `json:"read_only,omitempty"` // a field that only the server may set
	Texts    map[string]string `json:"texts,omitempty"`     // added to free texts
	Field    string            `json:"field,omitempty"`     // with the valid value of that number
	Value    int               `json:"value,omitempty"`     // beyond the last one, it starts over
}

// NewTestCall returns a call that creates a test, and what it sends of fields that the
// resource shows. Optional fields without a value in the profile are left out.
func NewTestCall(api *API, fields NewTestFields) (k Call, sent map[string]any) {
	k = api.RequestAs(dataset.Main, spec.CreatePlacementTest)
	if fields.Field != "" {
		k = api.creatingNumber(fields.Field, fields.Value)
	}
	for _, field := range fields.Optional {
		if field == fields.Field {
			continue
		}
		if field == "schedule" || field == "timestamp_next_run" { // a server may refuse them for a one-time test
			k = k.WithField("type", 2)
		}
		Aside(api, func() { // looking for a value is not part of what the trial tries
			if value, ok := OptionalValue(api, field); ok {
				k = k.WithField(field, value)
			}
		})
	}
	for _, field := range slices.Sorted(maps.Keys(fields.Texts)) {
		k = k.WithField(field, fmt.Sprint(k.Members()[field], " ", fields.Texts[field]))
	}
	sent = k.Members()
	delete(sent, "run_immediately") // an instruction, not a field of the resource
	maps.DeleteFunc(sent, IsUpToTheServer)
	for _, field := range fields.Null {
		if sent[field] == nil {
			k = k.WithField(field, nil)
		}
	}
	if fields.ReadOnly != "" {
		k = k.WithField(fields.ReadOnly, ReadOnlyValue(api, fields.ReadOnly))
	}
	return k, sent
}

// creatingNumber returns a call that creates a test with a valid value of the field: the
// one of that number.
func (api *API) creatingNumber(field string, number int) (k Call) {
	Aside(api, func() {
		values := ValuesOf(api, field)
		if len(values) == 0 {
			k = api.RequestAs(dataset.Main, spec.CreatePlacementTest)
			return
		}
		v := values[number%len(values)]
		k = Creating(api, field, v)
	})
	return k
}

// KeptFields are the fields of a creation that the test shows.
func KeptFields() []string {
	return slices.DeleteFunc(slices.Concat(spec.CreateRequired, spec.CreateOptional), func(field string) bool { return field == "run_immediately" })
}

// SentField returns a member of the body that was sent.
func (r Response) SentField(field string) any { return r.Call.Members()[field] }

// Querying adds the parameters of the query to the call, and the size of its first page.
func Querying(api *API, list Call, q oracle.Query) Call {
	list = FilteredBy(api, list, q.Parameters)
	if len(q.Sizes) > 0 && q.Sizes[0] > 0 {
		list = list.WithQuery("limit", strconv.Itoa(q.Sizes[0]))
	}
	return list
}

// RenderedMember returns a member of a JSON object as people read it, bounded.
func RenderedMember(row map[string]any, name string) string {
	return Shorten(schemas.Member(row, name, Readable))
}

// Rendered returns a JSON value as people read it, bounded.
func Rendered(value any) string { return Shorten(Readable(value)) }

// What a trial does with rows that the profile lists.

// Siblings returns two workspaces between which the admin key may move accounts. Those of
// the source are at home there.
func Siblings(api *API) (source, destination profile.Workspace) {
	return TwoWorkspaces(api, dataset.Admin)
}

// MovingAccounts returns a call that moves accounts with the admin key. The move is rolled
// back.
func MovingAccounts(api *API, source, destination profile.Workspace, emails ...string) Call {
	return api.As(dataset.Admin, spec.MoveAccounts).WithBody(Move(source, destination, emails...))
}

// OneExpendable returns a subsequence that the profile lets a run delete, and others that
// nobody deletes meanwhile. The trial must delete it.
func OneExpendable(api *API) (id string, others []string) {
	Aside(api, func() { id = ExpendableSubsequence(api) })
	return id, append(Neighbours(api, id), api.Workspace(dataset.Main).Subsequences...)
}

// Row returns the row with the id; nil if the walk does not show it.
func (w Walk) Row(id string) map[string]any { return w.ByKey()[paging.FoldID(id)] }

package api

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"
	"github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"

	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

// API is what the body of a spec works with: it sends requests to the target and
// states what the specification expects of the responses. Its methods may be
// called from several goroutines.
type API struct {
	*Env
	Ctx  context.Context
	Spec Spec
	Rng  *rand.Rand // guarded by mu

	probes      bool // it asks beside the specs, such as whether the spec's operation is served
	isAlone     bool // no other spec changes anything
	Looked      bool // it looked for what other specs put to the test as a whole
	omits       bool // walks have left a row out for as long as a change may take to show
	BodyRefused bool // the spec has sent a body without valid authorization

	Evidence *judge.Ledger // what this spec found out
	kept     *keeper       // what it keeps of responses

	mu       sync.Mutex
	took     map[string]bool // needs that the spec took, by name; true for those that it can do without
	Failures []Failure       // violations of the declared requirements, and trouble
	undo     []sandbox.Undo
	changes  []client.Step      // what it asked the target to change, in order
	reported func(Failure)      // receives each failure at once; may be nil
	others   func()             // runs the other specs that use the same thing; nil if nothing does
	trial    *Trial             // of a body outside of the tree; nil for a spec
	node     ginkgo.SpecContext // of the Ginkgo node that runs the body itself; nil for none
	steps    []string           // that the body has named before its node
}

// Failure is one reason for the spec's Ginkgo node to fail.
type Failure struct {
	Text     string
	Location string // file and line of the expectation; "" for a rule or trouble
}

// skipSpec is the panic with which a spec ends early. An empty input means that
// trouble was recorded, which covers all pairs.
type skipSpec struct {
	input string
	lost  bool // the profile names the input, but the target does not have it
}

func (api *API) fail(f Failure) {
	api.mu.Lock()
	defer api.mu.Unlock()
	if slices.Contains(api.Failures, f) {
		return
	}
	api.Failures = append(api.Failures, f)
	if api.reported != nil {
		api.reported(f)
	}
}

// Trouble records that the harness, or the way to the target, failed.
func Trouble(api *API, what string) {
	what = redact.Process.Text(what)
	api.Evidence.Troubled(api.Spec.Name(), what, api.Spec.Pairs...)
	api.fail(Failure{Text: "trouble: " + what})
}

// NotAssessed ends the spec because an input of the profile or of the target's
// data is missing. What was not judged so far is not assessed.
func (api *API) NotAssessed(format string, args ...any) {
	panic(skipSpec{input: fmt.Sprintf(format, args...)})
}

// Do sends the call and lets the rules see the response. A status that the call does not allow
// breaks the requirement that the call names. The spec ends if no response comes, and if a valid
// call that names no requirement is not served.
func (api *API) Do(k Call) Response { return api.DoAll(k)[0] }

// DoAll is Do for several calls at the same time.
func (api *API) DoAll(calls ...Call) []Response {
	all := api.send(calls)
	for _, r := range all {
		if lacks := r.Shortfall(); lacks != "" && r.Call.Allowed.Valid() && r.Call.Breaks == "" {
			api.NotAssessed("%s from %s", lacks, r.Call.Operation.ID)
		}
	}
	return all
}

// send is DoAll for calls whose responses the caller can do without.
func (api *API) send(calls []Call) []Response {
	calls, renamable := api.allowRefusedNames(calls)
	requests := make([]client.Request, len(calls))
	begun := make([]sandbox.Begun, len(calls))
	for _, k := range calls { // before any is recorded: all are sent, or none
		NeedServed(api, k)
		api.needShort(k)
		api.needNamed(k)
		EndIf(api, api.Sandbox().Permit(api.Ctx, Change(api, k)))
	}
	for i, k := range calls {
		if k.Operation.ID == spec.CreatePlacementTest && (k.probe || !k.Allowed.Status(http.StatusOK)) {
			Disregard(api, k)
		}
		var err error
		begun[i], err = api.Sandbox().Before(Change(api, k))
		EndIf(api, err)
		requests[i] = k.request()
		requests[i].Place = client.NextPlace(api.Ctx)
	}
	responses := make([]Response, len(calls))
	work := make([]func(), len(calls))
	for i, k := range calls {
		ask := api.askAsNew
		switch {
		case k.from != nil:
			ask = api.askBehind
		case k.Operation.ID == spec.DeletePlacementTest || k.Operation.ID == spec.GetPlacementTest:
			ask = api.askOnceKnown
		case k.Operation.ID == spec.CreatePlacementTest:
			ask = api.askNaming
		}
		work[i] = func() { responses[i] = api.onFreshConnection(k, ask(k, requests[i])) }
	}
	api.sendAll(calls, work)
	var broken *Response
	full := false
	for i := range responses {
		r := &responses[i]
		r.changes, r.noted = api.sent(*r)
		api.record(*r)
		if calls[i].Allowed.Valid() && r.Err == nil {
			api.Evidence.Answered(calls[i].Operation.ID, r.Status)
		}
		api.after(*r, begun[i])
		api.showsOwn(*r)
		if broken == nil && (r.Err != nil || r.Truncated || r.found.Err != nil) {
			broken = r
		}
		full = full || r.full
	}
	if broken != nil {
		Stop(api, *broken)
	}
	if full {
		api.NotAssessed("%s", keepsNoMore())
	}
	for i, k := range calls {
		if lost := responses[i].lost; lost != nil {
			Lacks(api, *lost)
		}
		if k.Operation.ID == spec.CreatePlacementTest && k.Allowed.Status(http.StatusOK) && responses[i].OK() {
			api.needKept(responses[i])
		}
	}
	for i, k := range renamable {
		if status := responses[i].Status; RefusesRepetition(status) || status == http.StatusForbidden { // another name decides
			responses[i] = api.send([]Call{k.WithField("name", api.Word())})[0]
		}
	}
	return responses
}

// sendAll sends the calls at the same time. A panic on the way to the target ends the spec,
// not the process.
func (api *API) sendAll(calls []Call, work []func()) {
	if !api.isAlone && slices.ContainsFunc(calls, func(k Call) bool { return k.Operation.Unsafe() }) {
		defer api.beside(api.Ctx)()
	}
	api.Together(work...)
}

// needShort ends the spec if a value is too long for an address.
func (api *API) needShort(k Call) {
	const lacked = "a value of at most %d bytes for %s of %s"
	if len(k.ID) > client.MaxURLValue {
		api.NotAssessed(lacked, client.MaxURLValue, "the id", k.Operation.ID)
	}
	for name, values := range k.Query {
		if slices.ContainsFunc(values, func(v string) bool { return len(v) > client.MaxURLValue && !isListOfIDs(v) }) {
			api.NotAssessed(lacked, client.MaxURLValue, name, k.Operation.ID)
		}
	}
}

// maxListOfIDs is the maximum length in bytes of a list of ids in an address. Every common
// server takes an address of that length.
const maxListOfIDs = 1500

// isListOfIDs reports whether the value is a comma-separated list of UUIDs that is short
// enough for an address.
func isListOfIDs(value string) bool {
	return len(value) <= maxListOfIDs && !slices.ContainsFunc(strings.Split(value, ","), func(id string) bool { return uuid.Validate(id) != nil })
}

// Stop ends the spec because no response came, or not a whole one.
func Stop(api *API, r Response) {
	if errors.Is(r.Exchange.Err, client.ErrCanceled) && !errors.Is(context.Cause(api.Ctx), context.DeadlineExceeded) {
		if cause := context.Cause(api.Ctx); cause != nil && !errors.Is(cause, context.Canceled) && !errors.Is(cause, ErrFailFast) && !client.Ended(api.Ctx) {
			Trouble(api, cause.Error())
			panic(skipSpec{})
		}
		api.NotAssessed("%s", WhyCut(api.Ctx))
	}
	if r.unanswered {
		api.NotAssessed("a response from %s", r.Call.Operation.ID)
	}
	what := fmt.Sprintf("the body is larger than %d bytes, the most that the harness reads", client.DefaultMaxBody)
	switch {
	case r.Exchange.Err != nil:
		what = r.Exchange.Err.Error() + judge.Unread(r.Exchange)
	case r.found.Err != nil:
		what = fmt.Sprintf("the response could not be judged: %v", r.found.Err)
	}
	Trouble(api, what)
	panic(skipSpec{})
}

// TrySend sends a call that changes nothing. The spec goes on if no response comes.
func TrySend(api *API, k Call) Response {
	r := api.sendOne(k, k.request())
	api.record(r)
	return r
}

// record enters what the rules saw, which is the verdict on the response.
func (api *API) record(r Response) {
	if r.Call.Allowed.Declared() {
		api.hasVerdict(r.Exchange)
	}
	api.Evidence.From(r.Exchange.ID)
	broken := r.broken.Requirement != ""
	switch named := api.namedBy(r.Call); {
	case broken:
		api.Evidence.Assessed(r.broken, 1)
	case named.Requirement == "" || r.Call.breaksOn != "" || r.Err != nil || r.Truncated || !r.Call.certain(r.Status): // the response shows nothing
	case r.Status/100 == 4:
		api.Evidence.Refused(named, r.Status)
	case r.OK():
		api.Evidence.Assessed(named, 1)
	default:
		api.Evidence.Missing(named, r.Shortfall())
	}
	for _, seen := range r.found.Seen {
		switch {
		case (broken || r.Call.probe) && isStatus(seen.Pair.Requirement):
		case seen.Pair.Requirement == string(spec.StatusAllowed) && r.Status/100 == 4:
			if !api.probes { // a refusal proves nothing if valid requests are refused alike
				api.Evidence.Refused(seen.Pair, r.Status)
			}
		default:
			api.Evidence.Assessed(seen.Pair, seen.Times)
		}
	}
	for _, p := range r.found.Unread {
		api.Evidence.Missing(p, schemas.MissingNumber)
	}
	for _, f := range r.found.Findings {
		p := f.Pair
		if isStatus(p.Requirement) {
			p = r.broken
		}
		if p.Requirement != "" {
			Violated(api, p, Found(r, f.Pointer, f.Expected, f.Actual), "")
		}
	}
	for p, n := range r.found.More {
		api.Evidence.ViolatedAgain(p, n)
	}
	for _, o := range r.found.Observed {
		ObserveOn(api, r.Call.Operation.ID, o.OpenPoint, "%s", o.Value)
	}
}

// Violated enters a violation. It fails the spec if the spec declares the pair
// and judges it by itself; what the rules find fails the spec of the rule.
func Violated(api *API, p spec.Pair, f Finding, location string) {
	api.broke(p, f)
	v := reports.Violation{Spec: api.Spec.Name(), Location: location, Pointer: f.Pointer, Expected: f.Expected, Actual: f.Actual}
	var formatted reports.Violation
	shown := api.Evidence.ViolatedAs(p, v, func(v reports.Violation) reports.Violation {
		v.Pointer = redact.Process.Text(v.Pointer) // the target chooses the names of some members
		v.Expected, v.Actual = redact.Process.Text(v.Expected), redact.Process.Text(v.Actual)
		f.Response.complete(&v, p, api.made)
		formatted = v
		return v
	})
	if shown && api.Judges(p) && slices.Contains(api.Spec.Pairs, p) && !judge.SeenByRules(p.Requirement) {
		api.fail(Failure{Text: p.Requirement + " on " + p.Operation + ": " + DescribeViolation(formatted), Location: location})
	}
}

// DescribeViolation renders a violation for Ginkgo's console.
func DescribeViolation(v reports.Violation) string {
	text := fmt.Sprintf("expected %s, got %s", v.Expected, v.Actual)
	if v.Pointer != "" {
		text = "at " + v.Pointer + ": " + text
	}
	if v.Curl != "" {
		text += "\n  " + v.Curl
	}
	return text
}

// Observe records what the spec's operation does where the specification is
// silent.
func (api *API) Observe(openPoint, format string, args ...any) {
	ObserveOn(api, api.Spec.Operation, openPoint, format, args...)
}

func ObserveOn(api *API, operation, openPoint, format string, args ...any) {
	api.Evidence.Observe(openPoint, operation, redact.Process.Text(judge.Short(fmt.Sprintf(format, args...))))
}

// Together runs the functions concurrently. If one ends the spec, the others are
// waited for first.
func (api *API) Together(work ...func()) {
	stopped := make([]any, len(work))
	var wait sync.WaitGroup
	for i, f := range work {
		wait.Go(func() {
			defer func() { stopped[i] = recover() }()
			f()
		})
	}
	wait.Wait()
	for _, s := range stopped {
		if s != nil {
			panic(s)
		}
	}
}

// Each runs the function for each item at the same time and returns the results in the order of
// the items.
func Each[T, R any](api *API, items []T, f func(T) R) []R {
	results, work := make([]R, len(items)), make([]func(), len(items))
	for i, item := range items {
		work[i] = func() { results[i] = f(item) }
	}
	api.Together(work...)
	return results
}

func (api *API) restore() {
	ctx, cancel := sandbox.ForRollback(api.Ctx)
	defer cancel()
	for _, undo := range slices.Backward(api.undo) {
		undo(ctx)
	}
}

// TidyUp deletes the tests that the spec has created so far, in any order.
func TidyUp(api *API) {
	api.mu.Lock()
	made := api.undo
	api.undo = nil
	api.mu.Unlock()
	ctx, cancel := sandbox.ForRollback(api.Ctx)
	defer cancel()
	work := make([]func(), len(made))
	for i, undo := range made {
		work[i] = func() { undo(ctx) }
	}
	api.Together(work...)
}

package suites

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

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
	ctx  context.Context
	spec Spec
	rng  *rand.Rand // guarded by mu

	probes      bool // it asks beside the specs, such as whether the spec's operation is served
	isAlone     bool // no other spec changes anything
	looked      bool // it looked for what other specs put to the test as a whole
	bodyRefused bool // the spec has sent a body without valid authorization

	evidence *judge.Ledger // what this spec found out
	kept     *keeper       // what it keeps of responses
	took     time.Duration // how long its body took

	mu             sync.Mutex
	said           map[spec.Pair]bool // pairs on which the spec itself has said something
	failures       []failure          // violations of the declared requirements, and trouble
	surprises      []surprise         // statuses that the calls do not allow
	judgedStatuses map[statusOf]bool  // those that the spec has judged by itself
	consequences   []consequence      // of a violation that the spec may find
	undo           []sandbox.Undo
	changes        []client.Step // what it asked the target to change, in order
	reported       func(failure) // receives each failure at once; may be nil
	others         func()        // runs the other specs that use the same thing; nil if nothing does
	trial          *Trial        // of a body outside of the tree; nil for a spec
}

// failure is one reason for the spec's Ginkgo node to fail.
type failure struct {
	text     string
	location string // file and line of the expectation; "" for a rule or trouble
}

// skipSpec is the panic with which a spec ends early. An empty input means that
// trouble was recorded, which covers all pairs.
type skipSpec struct {
	input string
	lost  bool // the profile names the input, but the target does not have it
}

func (api *API) fail(f failure) {
	api.mu.Lock()
	defer api.mu.Unlock()
	if slices.Contains(api.failures, f) {
		return
	}
	api.failures = append(api.failures, f)
	if api.reported != nil {
		api.reported(f)
	}
}

// trouble records that the harness, or the way to the target, failed.
func (api *API) trouble(what string) {
	what = redact.Process.Text(what)
	api.evidence.Troubled(api.spec.Name(), what, api.spec.Pairs...)
	api.fail(failure{text: "trouble: " + what})
}

// NotAssessed ends the spec because an input of the profile or of the target's
// data is missing. What was not judged so far is not assessed.
func (api *API) NotAssessed(format string, args ...any) {
	panic(skipSpec{input: fmt.Sprintf(format, args...)})
}

// Do sends the call and lets the rules see the response. Any status may come back: one
// that the call does not allow breaks a requirement, whatever the spec makes of it. The
// spec ends if no response comes.
func (api *API) Do(k Call) Response { return api.DoAll(k)[0] }

// MustDo is Do for a call without whose 200 the spec cannot go on.
func (api *API) MustDo(k Call) Response { return api.MustDoAll(k)[0] }

// MustDoAll is MustDo for several calls at the same time.
func (api *API) MustDoAll(calls ...Call) []Response {
	all := api.DoAll(calls...)
	for _, r := range all {
		if lacks := r.shortfall(); lacks != "" {
			api.NotAssessed("%s from %s", lacks, r.Call.Operation.ID)
		}
	}
	return all
}

// DoAll is Do for several calls at the same time.
func (api *API) DoAll(calls ...Call) []Response {
	calls, renamable := api.allowRefusedNames(calls)
	requests := make([]client.Request, len(calls))
	begun := make([]sandbox.Begun, len(calls))
	for _, k := range calls { // before any is recorded: all are sent, or none
		api.needServed(k)
		api.needShort(k)
		api.needNamed(k)
		api.need(api.sandbox().Permit(api.ctx, api.change(k)))
	}
	for i, k := range calls {
		var err error
		begun[i], err = api.sandbox().Before(api.change(k))
		api.need(err)
		requests[i] = k.request()
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
		if calls[i].allowed.Valid() && r.Err == nil {
			api.evidence.Answered(calls[i].Operation.ID, r.Status)
		}
		api.after(*r, begun[i])
		api.showsOwn(*r)
		if broken == nil && (r.Err != nil || r.Truncated || r.found.Err != nil) {
			broken = r
		}
		full = full || r.full
	}
	if broken != nil {
		api.stop(*broken)
	}
	if full {
		api.NotAssessed("%s", keepsNoMore())
	}
	for i, k := range calls {
		if k.Operation.ID == spec.CreatePlacementTest && (k.allowed.Valid() || responses[i].OK() && k.allowed.Status(http.StatusOK)) {
			api.needKept(responses[i])
		}
	}
	for i, k := range renamable {
		if refusesRepetition(responses[i].Status) {
			responses[i] = api.Do(k.WithField("name", api.Word()))
		}
	}
	return responses
}

// sendAll sends the calls at the same time. A panic on the way to the target ends the spec,
// not the process.
func (api *API) sendAll(calls []Call, work []func()) {
	if !api.isAlone && slices.ContainsFunc(calls, func(k Call) bool { return k.Operation.Unsafe() }) {
		defer api.beside(api.ctx)()
	}
	api.Together(work...)
}

// needShort ends the spec if a value is too long for an address.
func (api *API) needShort(k Call) {
	const lacked = "a value of at most %d bytes for %s of %s"
	if len(k.id) > client.MaxURLValue {
		api.NotAssessed(lacked, client.MaxURLValue, "the id", k.Operation.ID)
	}
	for name, values := range k.query {
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

// stop ends the spec because no response came, or not a whole one.
func (api *API) stop(r Response) {
	if errors.Is(r.Exchange.Err, client.ErrCanceled) && !errors.Is(context.Cause(api.ctx), context.DeadlineExceeded) {
		if cause := context.Cause(api.ctx); cause != nil && !errors.Is(cause, context.Canceled) && !errors.Is(cause, errFailFast) && !stoppedAnswering(api.ctx) {
			api.trouble(cause.Error())
			panic(skipSpec{})
		}
		api.NotAssessed("%s", whyCut(api.ctx))
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
	api.trouble(what)
	panic(skipSpec{})
}

// record enters what the rules saw, which is the verdict on the response.
func (api *API) record(r Response) {
	if r.Call.allowed.Declared() {
		api.hasVerdict(r.Exchange)
	}
	for _, seen := range r.found.Seen {
		switch {
		case isStatus(seen.Pair.Requirement) && r.surprises(): // the spec may judge it
		case seen.Pair.Requirement == string(spec.StatusAllowed) && r.Status/100 == 4:
			if !api.probes { // a refusal proves nothing if valid requests are refused alike
				api.evidence.Refused(seen.Pair, r.Status)
			}
		default:
			api.evidence.Assessed(seen.Pair, seen.Times)
		}
	}
	for _, p := range r.found.Unread {
		api.evidence.Missing(p, schemas.MissingNumber)
	}
	for i, f := range r.found.Findings {
		finding, cause := Finding{r, f.Pointer, f.Expected, f.Actual}, r.causes[i]
		switch {
		case isStatus(f.Pair.Requirement):
			api.surprised(r, f.Pair, finding)
		case cause.ifViolated:
			api.suspected(consequence{cause.pair, f.Pair, finding})
		case cause.follows:
			api.evidence.Followed(cause.pair, f.Pair)
		default:
			api.violated(f.Pair, finding, "")
		}
	}
	for p, n := range r.found.More {
		api.evidence.ViolatedAgain(p, n)
	}
	for _, o := range r.found.Observed {
		api.observeOn(r.Call.Operation.ID, o.OpenPoint, "%s", o.Value)
	}
}

// violated enters a violation. It fails the spec if the spec declares the pair
// and judges it by itself; what the rules find fails the spec of the rule.
func (api *API) violated(p spec.Pair, f Finding, location string) {
	api.broke(p, f)
	v := reports.Violation{Spec: api.spec.Name(), Location: location, Pointer: f.Pointer, Expected: f.Expected, Actual: f.Actual}
	var formatted reports.Violation
	shown := api.evidence.ViolatedAs(p, v, func(v reports.Violation) reports.Violation {
		if api.OutcomesOnly {
			return v
		}
		v.Pointer = redact.Process.Text(v.Pointer) // the target chooses the names of some members
		v.Expected, v.Actual = redact.Process.Text(v.Expected), redact.Process.Text(v.Actual)
		f.Response.complete(&v, p, api.made)
		formatted = v
		return v
	})
	if shown && api.selected(p) && slices.Contains(api.spec.Pairs, p) && !judge.SeenByRules(p.Requirement) {
		api.fail(failure{text: p.Requirement + " on " + p.Operation + ": " + describeViolation(formatted), location: location})
	}
}

// describeViolation renders a violation for Ginkgo's console.
func describeViolation(v reports.Violation) string {
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
	api.observeOn(api.spec.Operation, openPoint, format, args...)
}

func (api *API) observeOn(operation, openPoint, format string, args ...any) {
	api.evidence.Observe(openPoint, operation, redact.Process.Text(judge.Short(fmt.Sprintf(format, args...))))
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

// afterwards registers what rolls the target back; last in, first out.
func (api *API) afterwards(undo sandbox.Undo) {
	api.mu.Lock()
	defer api.mu.Unlock()
	api.undo = append(api.undo, undo)
}

func (api *API) restore() {
	ctx, cancel := sandbox.ForRollback(api.ctx)
	defer cancel()
	for _, undo := range slices.Backward(api.undo) {
		undo(ctx)
	}
}

// tidyUp deletes the tests that the spec has created so far, in any order.
func (api *API) tidyUp() {
	api.mu.Lock()
	made := api.undo
	api.undo = nil
	api.mu.Unlock()
	ctx, cancel := sandbox.ForRollback(api.ctx)
	defer cancel()
	work := make([]func(), len(made))
	for i, undo := range made {
		work[i] = func() { undo(ctx) }
	}
	api.Together(work...)
}

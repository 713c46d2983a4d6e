package api

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

// Every response of a run gets a verdict, whoever sent the request and whatever for. A
// request declares which responses the specification allows (Call.MustGet and the
// methods beside it, client.Request.Allowed). The rules judge the response by that.

// surprise is a status that the specification does not allow for the call. It breaks the
// pair, unless the spec judges such a response by the requirement that it is about: so one
// defect breaks one requirement.
type surprise struct {
	pair    spec.Pair
	of      statusOf
	finding *Finding // nil if it is only counted
}

// statusOf is a status of responses of an operation.
type statusOf struct {
	operation string
	status    int
}

func (r Response) statusOf() statusOf { return statusOf{r.Call.Operation.ID, r.Status} }

// consequence is a violation in a response that should, or may, have been a refusal. It
// follows from the cause if the spec finds that violated.
type consequence struct {
	cause, pair spec.Pair
	finding     Finding
}

// isStatus reports whether the rules make the finding of the status alone.
func isStatus(requirement string) bool {
	return requirement == string(spec.Status200) || requirement == string(spec.StatusAllowed)
}

// surprises reports whether the call does not allow the status.
func (r Response) surprises() bool {
	return slices.ContainsFunc(r.found.Findings, func(f judge.Finding) bool { return isStatus(f.Pair.Requirement) })
}

// surprised notes a status that is not allowed.
func (api *API) surprised(r Response, p spec.Pair, f Finding) {
	if id := r.Call.breaks; id != "" {
		p = id.On(r.Call.Operation.ID)
	}
	api.mu.Lock()
	defer api.mu.Unlock()
	s := surprise{pair: p, of: r.statusOf()}
	if len(api.surprises) < maxFindings {
		s.finding = &f
	}
	api.surprises = append(api.surprises, s)
}

// hasJudged notes that the spec has found the response wrong. If its status is a surprise,
// the spec has judged all responses of the operation with that status.
func (api *API) hasJudged(r Response) {
	if !r.surprises() {
		return
	}
	api.mu.Lock()
	defer api.mu.Unlock()
	api.judgedStatuses[r.statusOf()] = true
}

// takeOver has the spec answer for the surprises of a probe that it has started.
func (api *API) takeOver(probe *API) {
	api.mu.Lock()
	defer api.mu.Unlock()
	api.surprises = append(api.surprises, probe.surprises...)
	probe.surprises = nil
}

// suspected notes what may follow from a violation that the spec is about to find.
func (api *API) suspected(c consequence) {
	api.mu.Lock()
	defer api.mu.Unlock()
	api.consequences = append(api.consequences, c)
}

// chargeTheRest charges what the spec has met beside its own checks.
func (api *API) chargeTheRest() {
	for _, s := range api.surprises {
		switch {
		case api.judgedStatuses[s.of]:
			continue
		case s.finding != nil:
			api.Violated(s.pair, *s.finding, "")
		default:
			api.Evidence.ViolatedAgain(s.pair, 1)
		}
		api.Evidence.Assessed(s.pair, 1)
	}
	for _, c := range api.consequences {
		if api.Evidence.Check(c.cause).ViolationCount > 0 {
			api.Evidence.Followed(c.cause, c.pair)
		} else {
			api.Violated(c.pair, c.finding, "")
		}
	}
	api.surprises, api.consequences = nil, nil
}

// Observe counts an exchange of the client. A 429 that the client waits out is legal, and
// the request goes out again. All other responses wait for a verdict.
func (e *Env) Observe(ex client.Exchange) {
	switch {
	case ex.Status == http.StatusTooManyRequests && !ex.Request.NoRetry && ex.Err == nil:
		e.Spent(1)
	case ex.Status != 0:
		e.unjudged.Add(1)
	}
	e.sent.add(ex)
}

// hasVerdict notes that the response has its verdict, or is trouble.
func (e *Env) hasVerdict(ex client.Exchange) {
	if ex.Status != 0 {
		e.unjudged.Add(-1)
	}
}

// Unjudged returns how many responses have no verdict. It is 0 between two requests.
func (e *Env) Unjudged() int { return int(e.unjudged.Load()) }

// Send sends a request of an operation beside the specs, such as one that rolls a change
// back, and judges the response.
func (e *Env) Send(ctx context.Context, request client.Request) client.Exchange {
	e.Begin()
	op := spec.MustOperation(request.Operation)
	if op.Unsafe() {
		defer e.beside(ctx)()
	}
	beside := newAPI(ctx, e, Spec{Operation: op.ID, Title: "is used beside the specs"}, 0)
	beside.probes = true
	k := Call{Operation: op, Allowed: request.Allowed, Brief: true}
	var r Response
	ex := e.Client.DoWith(ctx, request, func(ex client.Exchange) { r = beside.judged(k, ex) })
	beside.Record(r)
	beside.chargeTheRest()
	e.addOutside(beside)
	return ex
}

// SendUnspecified sends a request of which the specification says nothing: any response
// is right.
func (e *Env) SendUnspecified(ctx context.Context, request client.Request) client.Exchange {
	ex := e.Client.Do(ctx, request)
	e.hasVerdict(ex)
	return ex
}

// addOutside enters what was found out beside the specs.
func (e *Env) addOutside(api *API) {
	e.outside.Add(api.Evidence)
	e.All.Add(api.Evidence)
}

// Unsuspect forgets a body that a server may accept: what is wrong with its row is charged
// as usual.
func (api *API) Unsuspect(k Call) {
	for _, value := range k.Members() {
		if text, ok := value.(string); ok {
			api.suspects.Delete(text)
		}
	}
}

// Suspect remembers the texts of a body that must be refused. A row that shows one
// of them came of it, and what is wrong with that row follows from the violated pair.
func (api *API) Suspect(k Call, violated spec.Pair) {
	for _, field := range []string{"name", "email_subject", "email_body"} { // each with random letters
		if text, ok := k.Members()[field].(string); ok && len(text) >= 16 {
			api.suspects.Store(text, violated)
		}
	}
}

// causeOf returns the pair whose violation let the row of the finding come about, if it
// is known, or the pair that the spec violates if it served what it should have refused.
func (api *API) causeOf(r Response, pointer string) causedBy {
	for i, row := range r.Rows() {
		if at := r.Call.Operation.RowPointer(i); pointer != at && !strings.HasPrefix(pointer, at+"/") {
			continue
		}
		for _, value := range row {
			if text, ok := value.(string); ok {
				if cause, found := api.suspects.Load(text); found {
					return causedBy{pair: cause.(spec.Pair), follows: true}
				}
			}
		}
	}
	if r.Call.Allowed.Open() && len(api.Spec.Pairs) > 0 && !api.Spec.Rule {
		return causedBy{pair: api.Spec.Pairs[0], follows: true, ifViolated: true}
	}
	return causedBy{}
}

// Refusal renders the status of a response and the members of its body.
func Refusal(r Response) string { return strconv.Itoa(r.Status) + r.form }

// formOf names the members of a body that is an object, otherwise its outer form. body is
// the decoded body if the rules read it.
func formOf(ex client.Exchange, body any) string {
	if body == nil {
		decoded, err := schemas.Decode(ex.Body)
		if err != nil {
			return ", no JSON"
		}
		body = decoded
	}
	if object, ok := body.(map[string]any); ok {
		return " with " + judge.Short(strings.Join(slices.Sorted(maps.Keys(object)), ", "))
	}
	return ", a JSON " + OuterForm(body)
}

func OuterForm(value any) string {
	switch value.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case nil:
		return "null"
	default:
		return "scalar"
	}
}

// tally counts the requests of a run by operation and by what the specification allows as
// their response. A request that got 429 and goes out again counts once.
type tally struct {
	mu   sync.Mutex
	kind map[kind]*reports.Requests
}

type kind struct {
	operation string
	allowed   client.Allowed
}

func (t *tally) add(ex client.Exchange) {
	waits := ex.Status == http.StatusTooManyRequests && !ex.Request.NoRetry && ex.Err == nil
	if waits || ex.Request.Operation == "" || !ex.Request.Allowed.Declared() {
		return
	}
	of := kind{ex.Request.Operation, ex.Request.Allowed}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kind == nil {
		t.kind = map[kind]*reports.Requests{}
	}
	n := t.kind[of]
	if n == nil {
		n = &reports.Requests{Operation: of.operation, Allowed: of.allowed.String()}
		t.kind[of] = n
	}
	n.Sent++
	if ex.Status/100 == 2 {
		n.Accepted++
	}
}

// Requests returns how many requests of each kind the target accepted: by operation in the
// order of the catalogue, valid requests first.
func (e *Env) Requests() []reports.Requests {
	e.sent.mu.Lock()
	defer e.sent.mu.Unlock()
	var all []reports.Requests
	for _, op := range spec.Operations() {
		first := len(all)
		for of, n := range e.sent.kind {
			if of.operation == op.ID {
				all = append(all, *n)
			}
		}
		slices.SortFunc(all[first:], func(a, b reports.Requests) int { return cmp.Compare(a.Allowed, b.Allowed) })
	}
	return all
}

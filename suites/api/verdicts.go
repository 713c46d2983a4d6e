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

// Every response of a run gets a verdict when it comes, whoever sent the request and whatever
// for. A call declares which statuses the specification allows, and which requirement any other
// one breaks (Call.MustGet and the methods beside it). The rules judge the rest.

// isStatus reports whether the rules make the finding of the status alone.
func isStatus(requirement string) bool {
	return requirement == string(spec.Status200) || requirement == string(spec.StatusAllowed)
}

// namedBy returns the pair that a response to the call breaks if its status is wrong: the
// requirement that the call names, on its operation or on that of the spec. It is zero if the
// call names none.
func (api *API) namedBy(k Call) spec.Pair {
	switch {
	case k.Breaks == "":
		return spec.Pair{}
	case k.breaksOn != "":
		return k.Breaks.On(k.breaksOn)
	case spec.Has(k.Breaks.On(k.Operation.ID)):
		return k.Breaks.On(k.Operation.ID)
	}
	return k.Breaks.On(api.Spec.Operation)
}

// broken returns the pair that the response breaks by its status: that which the call names, or
// that of the rules. It is zero if the call allows the status.
func (api *API) broken(k Call, found judge.Result) (broken spec.Pair) {
	for _, f := range found.Findings {
		if isStatus(f.Pair.Requirement) && !k.probe {
			broken = f.Pair
		}
	}
	if named := api.namedBy(k); broken.Requirement != "" && named.Requirement != "" {
		return named
	}
	return broken
}

// Disregard leaves the shape of what comes of a creation out of the verdicts: that a server
// accepts the body is the violation, or the spec judges what it makes of it.
func Disregard(api *API, k Call) {
	for _, field := range []string{"name", "email_subject", "email_body"} { // each with random letters
		if text, ok := k.Members()[field].(string); ok && len(text) >= 16 {
			FirstTime(api, "disregarded", text)
		}
	}
}

// disregarded drops the findings in rows that came of disregarded creations.
func (api *API) disregarded(op spec.Operation, found judge.Result) []judge.Finding {
	return slices.DeleteFunc(found.Findings, func(f judge.Finding) bool {
		for i, row := range found.Rows {
			if at := op.RowPointer(i); f.Pointer != at && !strings.HasPrefix(f.Pointer, at+"/") {
				continue
			}
			for _, value := range row {
				if text, ok := value.(string); ok {
					if _, known := api.known.Load("disregarded " + text); known {
						return true
					}
				}
			}
		}
		return false
	})
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
	beside.record(r)
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

package faults

import (
	"net/http"
	"slices"
	"sync"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// rule is a part of a fault: what it does to the exchanges of an operation on an occasion.
type rule struct {
	operation string // or one of the constants; "" is that of the defect, and any of a quirk
	when      occasion
	do        verb
}

type (
	// occasion selects exchanges. It may look at the answer, which forwards the request: a
	// verb that changes the request then comes too late. Some occasions count their looks, so
	// the order within all and either matters.
	occasion func(x *exchange) bool
	// verb changes the exchange: the request before it is forwarded, or the answer.
	verb func(x *exchange)
)

const (
	anyOperation = "*"       // one of the 18
	options      = "options" // the path of the provider options
	anyPath      = "**"      // known or not
	itsList      = "list"    // that shows the resource of the defect's operation
)

// when is a rule for the operation of the defect.
func when(o occasion, v verb) rule { return rule{"", o, v} }

// on is a rule for another operation.
func on(operation string, o occasion, v verb) rule { return rule{operation, o, v} }

// exchange is one request of a client, and the answer to it.
type exchange struct {
	Request
	*Target
	memory *memory
	next   Handler

	answer  Response
	err     error
	decided bool // there is an answer or an error
	own     bool // the query, header and body of the request are no longer the client's
}

// apply makes a middleware of rules, the first outermost. They share one memory.
func apply(rules ...rule) func(*Target) Middleware {
	return func(a *Target) Middleware {
		return func(next Handler) Handler {
			m := &memory{values: fields{}}
			handler := m.watching(next)
			for i := len(rules) - 1; i >= 0; i-- {
				handler = rules[i].handler(a, m, handler)
			}
			return handler
		}
	}
}

func (ru rule) handler(a *Target, m *memory, next Handler) Handler {
	return func(r Request) (Response, error) {
		if !ru.isFor(r) {
			return next(r)
		}
		x := &exchange{Request: r, Target: a, memory: m, next: next}
		if ru.when(x) {
			ru.do(x)
		}
		x.forward()
		return x.answer, x.err
	}
}

func (ru rule) isFor(r Request) bool {
	switch ru.operation {
	case anyPath:
		return true
	case anyOperation:
		return r.Operation != ""
	case options:
		return r.Path == spec.OptionsPath
	}
	return r.Operation == ru.operation
}

// forward sends the request to the target, once. It reports whether there is an answer.
func (x *exchange) forward() bool {
	if !x.decided {
		x.answer, x.err = x.next(x.Request)
		x.answer.Header = x.answer.Header.Clone()
		x.decided = true
	}
	return x.err == nil
}

// again forgets the answer: the request will be forwarded once more.
func (x *exchange) again() { x.decided = x.err != nil }

// got forwards the request and reports whether the answer has the status.
func (x *exchange) got(status int) bool { return x.forward() && x.answer.Status == status }

// served forwards the request and reports whether the answer is a 200.
func (x *exchange) served() bool { return x.got(http.StatusOK) }

// reply answers instead of the target, or in place of its answer.
func (x *exchange) reply(answer Response) { x.answer, x.err, x.decided = answer, nil, true }

// show is reply with a 200 and a body.
func (x *exchange) show(body any) { x.reply(jsonAnswer(http.StatusOK, body)) }

// edit returns the request to be changed before it is forwarded.
func (x *exchange) edit() *Request {
	if !x.own {
		x.Request, x.own = x.Request.clone(), true
	}
	return &x.Request
}

// ask sends another request to the target. ok is false unless it gets a 200.
func (x *exchange) ask(r Request) (answer Response, ok bool) {
	answer, err := x.next(r)
	if err != nil {
		x.err, x.decided = err, true
	}
	return answer, err == nil && answer.Status == http.StatusOK
}

// body returns the decoded 200 answer; nil if there is none.
func (x *exchange) body() any {
	if !x.served() {
		return nil
	}
	return decodedOrNil(x.answer.Body)
}

// rewrite changes the decoded 200 answer.
func (x *exchange) rewrite(change func(body any) any) {
	if body := x.body(); body != nil {
		x.answer.Body = encode(change(body))
	}
}

// rewriteRows changes the resources in the 200 answer in place.
func (x *exchange) rewriteRows(change func(rows []fields)) {
	x.rewrite(func(body any) any {
		change(rowsIn(x.Operation, body))
		return body
	})
}

// sent returns the members of the request's body; nil if it is not an object.
func (x *exchange) sent() fields {
	members, _ := objectIn(x.Request)
	return members
}

// asker returns the key of the request, if it is one of the profile's.
func (x *exchange) asker() (profile.Key, bool) { return x.keyOf(x.Request) }

// home returns the workspace whose key the request shows.
func (x *exchange) home() profile.Workspace {
	key, _ := x.asker()
	return x.Profile.Workspaces[key.Workspace]
}

// memory is what a fault remembers of one target.
type memory struct {
	mu     sync.Mutex
	values fields

	reading sync.Mutex
	lists   map[string][]row // whole lists, until a request may have changed something
}

func (m *memory) put(name string, value any) { m.update(name, func(any) any { return value }) }

func (m *memory) get(name string) (any, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, ok := m.values[name]
	return value, ok
}

func (m *memory) value(name string) any { value, _ := m.get(name); return value }

func (m *memory) has(name string) bool { _, ok := m.get(name); return ok }

// take returns the value and forgets it.
func (m *memory) take(name string) (any, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, ok := m.values[name]
	delete(m.values, name)
	return value, ok
}

// update replaces the value, nil if there is none, by what becomes of it.
func (m *memory) update(name string, change func(value any) any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values[name] = change(m.values[name])
}

// count counts from 1.
func (m *memory) count(name string) (n int) {
	m.update("number of "+name, func(value any) any {
		n, _ = value.(int)
		n++
		return n
	})
	return n
}

// counted returns what count returned last.
func (m *memory) counted(name string) int {
	n, _ := m.value("number of " + name).(int)
	return n
}

// add appends a value to those of a name.
func (m *memory) add(name string, value any) {
	m.update(name, func(values any) any {
		known, _ := values.([]any)
		return append(slices.Clone(known), value)
	})
}

// all returns the values that were added to a name.
func (m *memory) all(name string) []any {
	values, _ := m.value(name).([]any)
	return slices.Clone(values)
}

// watching forgets lists once a request may have changed them.
func (m *memory) watching(next Handler) Handler {
	return func(r Request) (Response, error) {
		answer, err := next(r)
		if op, ok := spec.FindOperation(r.Operation); ok && op.Unsafe() {
			m.reading.Lock()
			m.lists = nil
			m.reading.Unlock()
		}
		return answer, err
	}
}

package api

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/internal/redact"
)

// What the run finds out once for several specs belongs to none of them.

// Once returns what the function found out when the run asked for it first. The key says what
// it is about.
func Once[T any](e *Env, find func() T, key ...string) T {
	found, _ := e.known.LoadOrStore(strings.Join(key, " "), sync.OnceValue(find))
	return found.(func() T)()
}

// Fact returns what the function found out when the run asked for it first. The operation and
// about name the fact. It belongs to no spec: its requests, and what the rules see in the
// responses, count beside the specs.
func Fact[T any](api *API, operation, about string, find func(*API) T) T {
	s := Spec{Operation: operation, Title: about}
	found := Once(api.Env, func() seen[T] {
		finder := newAPI(client.From(api.Ctx, strings.TrimSpace(s.Name())), api.Env, s, hash(s.Name()))
		defer func() {
			finder.restore()
			finder.kept.release()
			api.addOutside(finder)
		}()
		value := find(finder)
		return seen[T]{value, finder.Evidence.Last()}
	}, "fact", s.Name())
	return found.by(api)
}

// seen is what the run found out, and the exchange that showed it.
type seen[T any] struct {
	value    T
	exchange int
}

// by returns the value to a spec, whose evidence comes from the exchange.
func (s seen[T]) by(api *API) T {
	api.Evidence.From(s.exchange)
	return s.value
}

// FirstTime reports whether the run asks for the first time.
func FirstTime(api *API, what, about string) bool {
	first := 1
	if _, again := api.known.LoadOrStore(what+" "+about, true); again {
		first = 0
	}
	first = client.Decide(api.Ctx, what+" "+redact.Process.Text(about), first)
	api.decided.mu.Lock()
	defer api.decided.mu.Unlock()
	if api.decided.firsts == nil {
		api.decided.firsts = map[string]int{}
	}
	api.decided.firsts[what+" "+about] += first // one name may stand for several secrets in a recording
	return first == 1
}

// What the run has done with a row.
const pending, gone = 1, 2

// changed reports when the run created the row, zero if it did not, and whether it deleted
// it or tried to. A row whose creation has no response yet is created now.
func (api *API) changed(row paging.Row) (created time.Time, deleted bool) {
	state, pends := 0, api.Sandbox().BeingCreated(row) // asked first: the response may come in between
	if pends {
		state = pending
	} else if _, deleted := api.Sandbox().Changed(row.Key); deleted {
		state = gone
	}
	state = client.Decide(api.Ctx, "the state of "+row.Key, state)
	if api.decided.state(row, state); state == pending {
		return client.Now(api.Ctx), false
	}
	if pends { // in the recorded run, its creator had seen the response
		api.awaitCreation(row)
	}
	created, _ = api.Sandbox().Changed(row.Key)
	return created, state == gone
}

// awaitCreation waits until the creator of the row has noted the response. That takes no time, unless
// somebody has changed the recording.
func (api *API) awaitCreation(row paging.Row) {
	ctx, cancel := context.WithTimeout(api.Ctx, time.Second)
	defer cancel()
	for api.Sandbox().BeingCreated(row) && (client.RealTime{}).Sleep(ctx, time.Millisecond) == nil {
	}
}

// decided are the choices of specs that depend on what others do at the same time. A recording
// states them. They must follow from the requests of the run.
type decided struct {
	mu     sync.Mutex
	firsts map[string]int  // how often something was asked for the first time
	gone   map[string]bool // rows that the run had deleted, or tried to
	made   []paging.Row    // that it was creating
}

func (d *decided) state(row paging.Row, state int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch state {
	case gone:
		if d.gone == nil {
			d.gone = map[string]bool{}
		}
		d.gone[row.Key] = true
	case pending:
		d.made = append(d.made, row)
	}
}

// Contradictions names the choices that do not follow from the requests that the run has sent. There
// are none, unless somebody has changed the recording of a run.
func (e *Env) Contradictions() (all []string) {
	e.decided.mu.Lock()
	defer e.decided.mu.Unlock()
	for about, firsts := range e.decided.firsts {
		if firsts != 1 {
			all = append(all, redact.Process.Text(fmt.Sprintf("%s for the first time: %d times", about, firsts)))
		}
	}
	for key := range e.decided.gone {
		if _, deleted := e.Sandbox().Changed(key); !deleted {
			all = append(all, "the run deleted "+key+", which no request does")
		}
	}
	for _, row := range e.decided.made {
		if created, _ := e.Sandbox().Changed(row.Key); created.IsZero() && !e.Sandbox().BeingCreated(row) {
			all = append(all, "the run created "+row.Key+", which no request does")
		}
	}
	slices.Sort(all)
	return all
}

// sharedRead is a list that was read whole for several specs. It belongs to none of them.
type sharedRead struct {
	mu      sync.Mutex
	times   int                       // that it was read
	changes int64                     // to the list, before it was read last
	walks   map[int]func() seen[Walk] // by their number
}

// Shared returns the list as the run read it last, whole. The run reads it again after a change
// of its own. Others may have changed the list meanwhile, so a spec that finds a difference must
// compare with reads of its own. The spec ends if the list cannot be read whole.
func Shared(api *API, list Call) Walk {
	about := fmt.Sprintf("%s is read for several specs with the key %s", list.Operation.ID, list.Key.Name)
	read := Once(api.Env, func() *sharedRead { return &sharedRead{walks: map[int]func() seen[Walk]{}} }, about)
	read.mu.Lock()
	number := read.times
	if changes := api.changesTo(list.Operation.Resource).Load(); number == 0 || read.changes != changes {
		number, read.changes = number+1, changes
	}
	number = client.Decide(api.Ctx, about, number)
	read.times = max(read.times, number)
	walk := read.walks[number]
	if walk == nil {
		walk = sync.OnceValue(func() seen[Walk] {
			reader := newAPI(client.From(api.Ctx, fmt.Sprintf("%s, read %d", about, number)), api.Env,
				Spec{Operation: list.Operation.ID, Title: "is read for several specs", Pairs: api.Spec.Pairs}, 0)
			defer func() { api.addOutside(reader) }()
			reader.kept = api.shared // specs may use the rows until the run ends
			found := reader.Read(list)
			return seen[Walk]{found, reader.Evidence.Last()}
		})
		read.walks[number] = walk
	}
	read.mu.Unlock()
	return walk().by(api)
}

// changesTo counts the changes of the run to resources of the kind.
func (e *Env) changesTo(resource string) *atomic.Int64 {
	return Once(e, func() *atomic.Int64 { return &atomic.Int64{} }, "changes", resource)
}

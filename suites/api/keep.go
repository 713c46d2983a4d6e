package api

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/semaphore"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

// Bounds of the memory that responses take, whatever the target sends.
const (
	maxJudging   = 48 << 20 // bytes of all responses that are judged at the same time
	maxJudged    = 24 << 20 // bytes of one of them
	judgedFactor = 64       // bytes for each byte of a body, while it is judged
	maxKept      = 96 << 20 // bytes that all specs keep of their responses
	keptResponse = 5 << 10  // bytes of a response without its rows
	keptHeaders  = 512      // bytes of its headers that only people read
	keptKey      = 128      // bytes of a row if a spec keeps only its key
)

// memory counts what the specs of a run keep of responses.
type memory struct {
	judging *semaphore.Weighted

	mu   sync.Mutex
	used int
	rows map[uintptr]*keptRow  // by the address of the map
	same map[string][]*keptRow // by key
}

// keptRow is a row that specs keep. All responses with an equal row share it, and so its
// key and the text that searches read, which takes at most as much memory again.
type keptRow struct {
	row         paging.Row
	size, users int
}

func (r *keptRow) address() uintptr { return reflect.ValueOf(r.row.Value).Pointer() }

func newMemory() *memory {
	return &memory{judging: semaphore.NewWeighted(maxJudging), rows: map[uintptr]*keptRow{}, same: map[string][]*keptRow{}}
}

// keeper is what one spec keeps. Its methods may be called from several goroutines.
type keeper struct {
	of *memory

	mu    sync.Mutex
	bytes int
	rows  map[*keptRow]bool
	keys  map[string]string // so that rows of several walks share them
}

// take counts bytes. It returns false if the memory is used up.
func (k *keeper) take(bytes int) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.add(bytes)
}

func (k *keeper) add(bytes int) bool {
	k.of.mu.Lock()
	defer k.of.mu.Unlock()
	if k.of.used+bytes > maxKept {
		return false
	}
	k.of.used += bytes
	k.bytes += bytes
	return true
}

// takeRows returns the rows of the resource with their keys, and counts those that the spec does not have
// yet; false if the memory is used up. Values that equal kept ones are replaced with them.
func (k *keeper) takeRows(resource string, values []map[string]any) ([]paging.Row, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.rows == nil {
		k.rows = map[*keptRow]bool{}
	}
	k.of.mu.Lock()
	defer k.of.mu.Unlock()
	rows := make([]paging.Row, len(values))
	for i, value := range values {
		kept := k.of.row(resource, value)
		if kept == nil {
			return nil, false
		}
		if !k.rows[kept] {
			k.rows[kept] = true
			kept.users++
		}
		rows[i], values[i] = kept.row, kept.row.Value
	}
	return rows, true
}

// row returns the kept row that equals the value; nil if the memory is used up. The caller
// holds mu.
func (m *memory) row(resource string, value map[string]any) *keptRow {
	if kept := m.rows[reflect.ValueOf(value).Pointer()]; kept != nil {
		return kept
	}
	fresh := &keptRow{row: paging.RowOf(resource, value)}
	for _, kept := range m.same[fresh.row.Key] {
		if reflect.DeepEqual(kept.row.Value, value) {
			return kept
		}
	}
	if fresh.size = schemas.Memory(value); m.used+fresh.size > maxKept {
		return nil
	}
	m.used += fresh.size
	m.rows[fresh.address()] = fresh
	m.same[fresh.row.Key] = append(m.same[fresh.row.Key], fresh)
	return fresh
}

// key returns a row without its value; false if the memory is used up.
func (k *keeper) key(row paging.Row) (paging.Row, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key, known := k.keys[row.Key]
	size := keptKey
	if !known {
		key = strings.Clone(row.Key)
		size += len(key)
		if k.keys == nil {
			k.keys = map[string]string{}
		}
		k.keys[key] = key
	}
	return paging.Row{Key: key, ByID: row.ByID}, k.add(size)
}

// release gives back what the spec kept.
func (k *keeper) release() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.of.mu.Lock()
	defer k.of.mu.Unlock()
	k.of.used -= k.bytes
	for row := range k.rows {
		if row.users--; row.users > 0 {
			continue
		}
		k.of.used -= row.size
		delete(k.of.rows, row.address())
		key := row.row.Key
		k.of.same[key] = slices.DeleteFunc(k.of.same[key], func(other *keptRow) bool { return other == row })
		if len(k.of.same[key]) == 0 {
			delete(k.of.same, key)
		}
	}
	k.bytes, k.rows, k.keys = 0, nil, nil
}

// keepsNoMore is the input that is missing when the memory is used up.
func keepsNoMore() string {
	return fmt.Sprintf("lists of which the specs keep at most %d MiB at the same time (lower pace.concurrency)", maxKept>>20)
}

// sendOne sends the call and judges the response.
func (api *API) sendOne(k Call, request client.Request) (r Response) {
	api.Client.DoWith(api.Ctx, request, func(ex client.Exchange) { r = api.judged(k, ex) })
	return r
}

// judged lets the rules see the response, and drops what no spec needs of it.
func (api *API) judged(k Call, ex client.Exchange) Response {
	cost := int64(min(judgedFactor*len(ex.Body), maxJudged))
	_ = api.memory.judging.Acquire(context.WithoutCancel(api.Ctx), cost) // fails only if the context ends
	defer api.memory.judging.Release(cost)
	owner := k.owner
	if k.anyOwner {
		owner = ""
	}
	found := api.Rules.Check(judge.Request{Operation: k.Operation, Allowed: k.Allowed, Owner: owner, Admin: api.Profile.AdminOf(owner)}, ex)
	found.Findings = api.disregarded(k.Operation, found)
	if k.probe && k.Allowed.Open() { // other calls judge what it is served
		found.Findings, found.Seen, found.More = nil, nil, nil
	}
	r := Response{Exchange: ex, Call: k, found: found, broken: api.broken(k, found), Items: found.Rows}
	r.Read(found.Body)
	r.found.Body, r.found.Rows = nil, nil
	r.Exchange.Wire = nil
	r.Exchange.Header, r.Exchange.Body = keptHeader(ex.Header), ex.Body[:min(len(ex.Body), reports.MaxBody)]
	if len(ex.Body) > reports.MaxBody {
		r.Exchange.Body = slices.Clone(r.Exchange.Body)
	}
	switch {
	case k.Brief:
		r.Items = nil
	case k.keysOnly:
		r.full = !api.keepKeys(&r)
	default:
		fits := api.kept.take(keptResponse)
		if fits {
			r.keyed, fits = api.kept.takeRows(k.Operation.Resource, r.Items)
		}
		r.full = !fits
	}
	if r.full {
		r.Items, r.keyed = nil, nil
	}
	r.repeat = sync.OnceValue(r.Exchange.Curl)
	r.excerpt = sync.OnceValue(func() string { return excerpt(r.Exchange) })
	size := len(ex.Body)
	r.heads = sync.OnceValue(func() *reports.Exchange { return heads(r.Exchange, size) })
	return r
}

// keepKeys replaces the rows with their keys; false if the memory is used up.
func (api *API) keepKeys(r *Response) bool {
	if !api.kept.take(keptResponse) {
		return false
	}
	r.keyed = make([]paging.Row, len(r.Items))
	for i, row := range r.Items {
		var fits bool
		if r.keyed[i], fits = api.kept.key(paging.RowOf(r.Call.Operation.Resource, row)); !fits {
			return false
		}
	}
	r.Items = nil
	return true
}

// keptHeader returns the headers that rules and observations read, and of the others as
// many as people may want to see.
func keptHeader(header http.Header) http.Header {
	kept, room := http.Header{}, keptHeaders
	for _, name := range []string{"Content-Type", "Content-Encoding", "Retry-After"} {
		if values := header.Values(name); len(values) > 0 {
			kept[name] = values
		}
	}
	for _, name := range slices.Sorted(maps.Keys(header)) {
		if values := header[name]; kept[name] == nil && len(values) == 1 && len(name)+len(values[0]) <= room {
			kept[name] = []string{strings.Clone(values[0])}
			room -= len(name) + len(values[0])
		}
	}
	return kept
}

// Read notes what specs ask of the whole body.
func (r *Response) Read(body any) {
	if r.Status != http.StatusOK {
		r.text = judge.Clip(judge.Readable(r.Exchange.Body))
	}
	if r.Call.Allowed.Open() {
		r.form = formOf(r.Exchange, body)
	}
	page, _ := body.(map[string]any)
	r.Next, r.HasNext = page["next_starting_after"]
	switch r.Call.Operation.Answer {
	case spec.Page:
		if _, listed := page["items"].([]any); !listed {
			r.lacks = "a page with items"
		}
	case spec.Array:
		if _, listed := body.([]any); !listed {
			r.lacks = "an array"
		}
	default:
		if r.Call.Operation.ID == spec.MoveAccounts && r.Text("status") != "success" {
			r.lacks = `a status of "success"`
		}
		if r.Call.Operation.ID != spec.MoveAccounts && r.ID() == "" {
			r.lacks = "an object with an id"
		}
	}
}

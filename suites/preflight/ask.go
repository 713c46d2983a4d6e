package preflight

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/google/uuid"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/spec"
)

// asker sends requests to one target.
type asker struct {
	Report // of Check

	ctx     context.Context
	api     *client.Client
	profile *profile.Profile
	wants   func(operation string) bool // nil for all implemented operations
	served  served                      // nothing is absent before findServed
	denied  map[string]int              // lists that the target refuses to the main key, with the status
}

// newAsker returns an asker with the keys and the pace of the target's profile. say
// receives what it waits for; may be nil.
func newAsker(ctx context.Context, t *target.Target, say func(string)) (*asker, error) {
	var options client.Options
	if say != nil {
		options.Waits = func(w client.Wait) { say(w.String()) }
	}
	api, err := t.Client(options)
	return &asker{ctx: ctx, api: api, profile: t.Profile, denied: map[string]int{}}, err
}

// answer is the response to a request for a list.
type answer struct {
	paging.Page
	status int   // 0 without a response
	err    error // why it shows no rows; nil for a list, which may be empty
}

// refused reports whether the target refuses the key. A 404 is no refusal of a key.
func (g answer) refused() bool {
	return g.status == http.StatusUnauthorized || g.status == http.StatusForbidden
}

// problem describes a response without rows.
func (g answer) problem(op spec.Operation) error {
	if g.status == 0 || g.status == http.StatusOK {
		return g.err
	}
	return fmt.Errorf("%s returns %d", op.ID, g.status)
}

// list reads a page of a list; the query may be nil. It waits out a 429.
func (a *asker) list(op spec.Operation, key profile.Key, query url.Values) (got answer) {
	send := func(ctx context.Context, r client.Request) client.Exchange {
		ex := a.api.Do(ctx, r)
		if ex.Err == nil {
			got.status = ex.Status
		}
		return ex
	}
	got.Page, got.err = paging.List(send, request(op, key, query), "")(a.ctx, "", 0)
	return got
}

func request(op spec.Operation, key profile.Key, query url.Values) client.Request {
	return client.Request{Operation: op.ID, Method: op.Method, Path: op.Path, Query: query, Key: key.ForClient()}
}

// operations returns the operations that the profile lists, that the user wants and
// that are not absent from the target.
func (a *asker) operations() []spec.Operation {
	return slices.DeleteFunc(spec.Operations(), func(op spec.Operation) bool {
		return !a.profile.Implements(op.ID) || a.wants != nil && !a.wants(op.ID) || a.served.absent[op.ID] != 0
	})
}

// lists returns those of the operations that return rows.
func (a *asker) lists() []spec.Operation {
	return slices.DeleteFunc(a.operations(), func(op spec.Operation) bool { return op.Answer == spec.One })
}

// text returns a string member of a row. It redacts it: YAML must quote what stands for a
// key in a profile.
func text(row paging.Row, field string) string {
	value, _ := row.Value[field].(string)
	return redact.Process.Text(value)
}

// ids returns the UUIDs of the rows.
func ids(rows []paging.Row) []string {
	var all []string
	for _, row := range rows {
		all = appendID(all, text(row, "id"), len(rows))
	}
	return all
}

// appendID appends a UUID unless the list contains it or is full.
func appendID(ids []string, id string, most int) []string {
	if uuid.Validate(id) != nil || len(ids) >= most || slices.Contains(ids, id) {
		return ids
	}
	return append(ids, id)
}

// same reports whether two responses show the same rows.
func same(a, b answer) bool {
	one, err := json.Marshal(a.Rows)
	other, err2 := json.Marshal(b.Rows)
	return err == nil && err2 == nil && string(one) == string(other)
}

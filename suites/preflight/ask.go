package preflight

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

// asker sends requests to one target.
type asker struct {
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
	if err != nil {
		return nil, err
	}
	return &asker{ctx: ctx, api: api, profile: t.Profile, denied: map[string]int{}}, nil
}

// answer is the response to a request.
type answer struct {
	status int
	rows   []map[string]any
	cursor string
	err    error // why there is no response
	// formless: a 200 with a body of another outer form than the documented one.
	formless bool
}

// refused reports whether the target refuses the key. A 404 is no refusal of a key.
func (g answer) refused() bool {
	return g.err == nil && (g.status == http.StatusUnauthorized || g.status == http.StatusForbidden)
}

// shows reports whether the response is a 200 with a list of rows, which may be empty.
func (g answer) shows() bool { return g.err == nil && g.status == http.StatusOK && !g.formless }

// list reads a page of a list; the query may be nil.
func (a *asker) list(op spec.Operation, key profile.Key, query url.Values) answer {
	return a.get(op, op.Path, key, query)
}

// get reads a path of the operation. It waits out a 429.
func (a *asker) get(op spec.Operation, path string, key profile.Key, query url.Values) answer {
	ex := a.api.Do(a.ctx, client.Request{Operation: op.ID, Method: http.MethodGet, Path: path, Query: query,
		Key: key.ForClient()})
	got := answer{status: ex.Status, err: ex.Err}
	if ex.Err == nil && ex.Status == http.StatusOK {
		got.rows, got.cursor, got.formless = a.rowsOf(op, ex.Body)
	}
	return got
}

// rowsOf returns the rows and the cursor of a list, or the resource in any other
// response. It redacts them: YAML must quote what stands for a key in a profile.
func (a *asker) rowsOf(op spec.Operation, body []byte) (rows []map[string]any, cursor string, formless bool) {
	decoded, err := schemas.Decode(body)
	if err != nil {
		return nil, "", true
	}
	decoded = redacted(decoded)
	shown := decoded
	if page, ok := decoded.(map[string]any); ok && op.Answer == spec.Page {
		cursor, _ = page["next_starting_after"].(string)
		shown = page["items"]
	}
	if op.Answer == spec.One {
		_, ok := decoded.(map[string]any)
		return op.Rows(decoded), "", !ok
	}
	_, ok := shown.([]any)
	return op.Rows(decoded), cursor, !ok
}

// redacted returns a decoded value with all its texts redacted.
func redacted(value any) any {
	switch value := value.(type) {
	case string:
		return redact.Process.Text(value)
	case []any:
		for i, v := range value {
			value[i] = redacted(v)
		}
	case map[string]any:
		members := make(map[string]any, len(value))
		for name, v := range value {
			members[redact.Process.Text(name)] = redacted(v)
		}
		return members
	}
	return value
}

// maxPages bounds how many pages of a list are read; pageSize is the highest limit
// (section Limits).
const (
	maxPages = 50
	pageSize = 100
)

// all reads a list page by page. whole reports whether it reached the end.
func (a *asker) all(op spec.Operation, key profile.Key) (rows []map[string]any, whole bool, err error) {
	parameter, named := a.profile.Parameter(op.ID, profile.ParamStartingAfter)
	query := url.Values{}
	if op.Answer == spec.Page {
		query.Set("limit", strconv.Itoa(pageSize))
	}
	most := maxPages
	if !named {
		most = 1
	}
	walk := paging.Run(a.ctx, paging.Bounded(func(_ context.Context, cursor string, limit int) (paging.Page, error) {
		if cursor != "" {
			query.Set(parameter, cursor)
		}
		got := a.list(op, key, query)
		if !got.shows() {
			return paging.Page{}, got.problem(op)
		}
		page := paging.Page{Limit: limit, Cursor: got.cursor}
		for _, row := range got.rows {
			page.Rows = append(page.Rows, paging.RowOf(op.Resource, row))
		}
		return page, nil
	}), paging.Fixed(pageSize), most)
	for _, row := range walk.Rows() {
		rows = append(rows, row.Value)
	}
	return rows, walk.Complete(), walk.Err
}

// problem describes a response without rows.
func (g answer) problem(op spec.Operation) error {
	if g.err != nil {
		return g.err
	}
	if g.formless {
		return fmt.Errorf("%s returns %d with a body that does not have the documented form", op.ID, g.status)
	}
	return fmt.Errorf("%s returns %d", op.ID, g.status)
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

// text returns a string member of a row.
func text(row map[string]any, field string) string {
	value, _ := row[field].(string)
	return value
}

// same reports whether two responses show the same rows.
func same(a, b answer) bool {
	one, err := json.Marshal(a.rows)
	other, err2 := json.Marshal(b.rows)
	return err == nil && err2 == nil && string(one) == string(other)
}

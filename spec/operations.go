package spec

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Answer is the outer form of an operation's 200 body.
type Answer int

// The three outer forms that the section Endpoints shows.
const (
	One   Answer = iota // the resource itself
	Page                // {items, next_starting_after}
	Array               // a plain JSON array of resources
)

// Scope is a permission of a key: <resource>:<action>. Operations whose scopes
// the specification does not show have the zero Scope.
type Scope struct {
	Resource, Action string
}

// Alternatives returns the four scopes that each allow the request
// (Authentication, rule 2), narrowest first. It returns nil for the zero Scope.
func (s Scope) Alternatives() []string {
	if s == (Scope{}) {
		return nil
	}
	return []string{s.Resource + ":" + s.Action, s.Resource + ":all", "all:" + s.Action, "all:all"}
}

// Operation is an operation whose shape the section Endpoints gives. The table of
// operations is generated from the OpenAPI document.
type Operation struct {
	ID       string // permanent; also the operationId in the OpenAPI document
	Method   string
	Path     string // template from the server root, such as /api/v2/campaigns/{id}/variables
	Section  string // heading under Endpoints that describes it
	Summary  string // what it does, in a few words
	Scope    Scope
	Answer   Answer
	Resource string // schema component of the resource in the answer
	Cursor   string // cursorFree or cursorTimestamp; "" without pages
	Query    []Parameter
	Filters  []Filter
	Owner    []string // fields of a row that name its workspace
	Body     string   // schema component of the request body; "" for none
	// Required and Optional are the members of the request body.
	Required, Optional []string
	Names              []Named // what a valid request names
}

// Kinds of cursors.
const (
	cursorFree      = "free" // the specification leaves the kind open
	cursorTimestamp = "timestamp"
)

// Parameter is a query parameter.
type Parameter struct {
	Key      string   // in target profiles, such as "status"
	Name     string   // customary name, which the OpenAPI document has
	NotShown bool     // the specification describes the parameter without a name
	Names    string   // the kind of resource that a value names, as in Named
	Values   []string // the closed set of values; nil if it is open
}

// Filter is a query parameter that selects rows of a list, or leaves out parts of them
// (section Endpoints). A parameter with several meanings is several filters.
type Filter struct {
	Key    string // of the parameter in target profiles
	Name   string // customary name, which the OpenAPI document has
	Kind   FilterKind
	Word   string   // in the ids of requirements: FILTER-<Word>-EXTRA
	Fields []string // of a row that decide
	Values []string // the closed set of values; nil if it is open
}

// Requirement returns the id of a requirement on the filter, such as FILTER-STATUS-EXTRA
// for the part EXTRA.
func (f Filter) Requirement(part string) ID { return ID("FILTER-" + f.Word + "-" + part) }

// Selects reports whether the filter selects rows. Another one leaves out parts of them.
func (f Filter) Selects() bool { return f.Kind != Omit }

// FilterKind is how a filter compares.
type FilterKind string

// The kinds of filters.
const (
	// Search selects the row whose first field is the text, and no row without a word of
	// it. Several fields are all that a search matches. With one, the others are open.
	Search      FilterKind = "search"
	Exact       FilterKind = "exact"        // the value of the field
	ExactSearch FilterKind = "exact-search" // the whole text of the field, or that of another filter with the key
	Exclude     FilterKind = "exclude"      // the value of the field leaves out a row
	AnyOf       FilterKind = "any-of"       // one of the values, separated by commas
	From        FilterKind = "from"         // the start of a window of time
	Until       FilterKind = "until"        // its end
	FromDay     FilterKind = "from-day"     // the first day of a window
	UntilDay    FilterKind = "until-day"    // its last day
	Omit        FilterKind = "omit"         // a flag that leaves out the field
)

// Named is a resource that a valid request names.
type Named struct {
	In    string // InPath or InBody
	Field string
	Kind  string // such as "campaign"
}

// Where a request names a resource.
const (
	InPath = "path"
	InBody = "body"
)

// Takes reports whether the operation has the query parameter with the key.
func (o Operation) Takes(key string) bool { return o.Parameter(key).Key != "" }

// Parameter returns the query parameter with the key; the zero Parameter if there is none.
func (o Operation) Parameter(key string) Parameter {
	found, _ := find(o.Query, func(p Parameter) bool { return p.Key == key })
	return found
}

// Filter returns the first filter of the query parameter with the key; the zero Filter if there
// is none.
func (o Operation) Filter(key string) Filter {
	found, _ := find(o.Filters, func(f Filter) bool { return f.Key == key })
	return found
}

// List returns the list that shows the operation's resource, and whether there is one.
func (o Operation) List() (Operation, bool) {
	return find(operations, func(list Operation) bool { return list.Answer != One && list.Resource == o.Resource })
}

// Get returns the operation that shows one row of the operation's resource, and whether there
// is one.
func (o Operation) Get() (Operation, bool) {
	return find(operations, func(get Operation) bool { return !get.Unsafe() && get.HasPathID() && get.Resource == o.Resource })
}

// Subject returns the resource that the operation is about, among those that a request
// names: the one whose id is called id.
func (o Operation) Subject() Named {
	subject, _ := find(o.Names, func(n Named) bool { return n.Field == "id" })
	return subject
}

// Changes reports whether the operation creates or deletes rows of a list.
func (o Operation) Changes() bool {
	list, ok := o.List()
	return ok && o.Unsafe() && (o.Method == http.MethodDelete || o.Path == list.Path)
}

// Deletes reports whether the operation deletes what its path names.
func (o Operation) Deletes() bool { return o.Method == http.MethodDelete }

// Unsafe reports whether the operation can change the target's state.
func (o Operation) Unsafe() bool { return o.Method != http.MethodGet }

// HasPathID reports whether the path carries the id of a resource.
func (o Operation) HasPathID() bool { return strings.Contains(o.Path, "{id}") }

// URLPath returns the path with the id in place of {id}. It escapes the id.
func (o Operation) URLPath(id string) string {
	return strings.Replace(o.Path, "{id}", url.PathEscape(id), 1)
}

// MeansUnserved reports whether a server that does not implement an operation may
// answer with the status. A 404 may also mean that a resource does not exist.
func MeansUnserved(status int) bool {
	return status == http.StatusNotFound || status == http.StatusMethodNotAllowed || status == http.StatusNotImplemented
}

// OptionsPath is the 19th path. The specification names it as the source of
// valid recipients_labels. It shows neither its response nor its scopes.
const OptionsPath = "/api/v2/inbox-placement-tests/email-service-provider-options"

// Operations returns all operations in the specification's order.
func Operations() []Operation { return append([]Operation(nil), operations...) }

// OperationIDs returns the ids of all operations in the order of the catalogue.
func OperationIDs() []string {
	ids := make([]string, len(operations))
	for i, op := range operations {
		ids[i] = op.ID
	}
	return ids
}

// FindOperation returns the operation with the given id.
func FindOperation(id string) (Operation, bool) {
	return find(operations, func(op Operation) bool { return op.ID == id })
}

// find returns the first wanted value, and whether there is one.
func find[T any](all []T, wanted func(T) bool) (found T, ok bool) {
	i := slices.IndexFunc(all, wanted)
	if i < 0 {
		return found, false
	}
	return all[i], true
}

// MustOperation returns the operation with the given id. It panics if there is
// none, so it is only for ids written in code.
func MustOperation(id string) Operation {
	op, ok := FindOperation(id)
	if !ok {
		panic("spec: unknown operation " + id)
	}
	return op
}

// Rows returns the resources in a decoded 200 body of the operation. It skips
// rows that are not objects.
func (o Operation) Rows(body any) []map[string]any {
	var items []any
	switch o.Answer {
	case One:
		items = []any{body}
	case Page:
		page, _ := body.(map[string]any)
		items, _ = page["items"].([]any)
	case Array:
		items, _ = body.([]any)
	}
	rows := make([]map[string]any, 0, len(items))
	for _, item := range items {
		if row, ok := item.(map[string]any); ok {
			rows = append(rows, row)
		}
	}
	return rows
}

// RowPointer returns the JSON pointer to the i-th resource in a 200 body.
func (o Operation) RowPointer(i int) string {
	switch o.Answer {
	case Page:
		return "/items/" + strconv.Itoa(i)
	case Array:
		return "/" + strconv.Itoa(i)
	default:
		return ""
	}
}

// Probe returns the id of the list with which a program tries a key or a target, if the
// target serves it: the last one whose cursor is a timestamp.
func Probe() string {
	timed := timedOps()
	return timed[len(timed)-1]
}

// Plain returns the id of a list without pages.
func Plain() string { return plainOps()[0] }

// MatchOperation returns the operation of a request, and the id in its path. The
// path begins at the server's root and is unescaped. An id may be empty, but
// holds no slash.
func MatchOperation(method, path string) (op Operation, id string, ok bool) {
	if path == OptionsPath {
		return Operation{}, "", false
	}
	for _, op := range operations {
		before, after, hasID := strings.Cut(op.Path, "{id}")
		if op.Method != method || !hasID && path != op.Path {
			continue
		}
		if !hasID {
			return op, "", true
		}
		rest, begins := strings.CutPrefix(path, before)
		id, ends := strings.CutSuffix(rest, after)
		if begins && ends && !strings.Contains(id, "/") {
			return op, id, true
		}
	}
	return Operation{}, "", false
}

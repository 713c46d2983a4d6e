package faults

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/spec"
)

// isolationDefects let a workspace see or change what belongs to another. They
// forward requests with the other's key and leave nothing deleted.
func isolationDefects() []Defect {
	return slices.Concat(
		leakDefects(),
		ownerDefects(),
		foreignIDDefects(),
		foreignSubsequenceDefects(),
		foreignDeletionDefects(),
		foreignFilterDefects(),
		foreignAccountDefects(),
	)
}

// asks matches requests with a key of the role's workspace.
func (a *Target) asks(role string) func(Request) bool {
	return func(r Request) bool {
		key, ok := a.keyOf(r)
		return ok && key.Workspace == role
	}
}

// claim sets the owner of the operation's row to the workspace.
func claim(operation string, row map[string]any, workspace string) {
	for _, field := range spec.MustOperation(operation).OwnerFields() {
		row[field] = workspace
	}
}

// leak is one way to show rows of one workspace in the list of another.
type leak struct {
	damage, doc string
	from, to    string // roles
	page        func(*Target) onePage
	rows        func([]any) []any // the leaked rows
}

func oneRow(rows []any) []any   { return rows[:min(1, len(rows))] }
func everyRowOf(r []any) []any  { return r }
func someRow(rows []any) []any  { return rows[len(rows)/2 : min(len(rows), len(rows)/2+1)] }
func onFirst(a *Target) onePage { return a.isFirst }
func onLast(*Target) onePage    { return isLast }

var leaks = []leak{
	{"leaks-one-row", "shows one row of another workspace on the first page", dataset.Second, dataset.Main, onFirst, oneRow},
	{"leaks-one-row-on-last-page", "shows one row of another workspace on the last page", dataset.Second, dataset.Main, onLast, someRow},
	{"leaks-a-page", "shows the rows of another workspace on the first page", dataset.Second, dataset.Main, onFirst, everyRowOf},
	{"leaks-one-row-to-another", "shows one row on the last page of another workspace's list", dataset.Main, dataset.Second, onLast, oneRow},
	{"leaks-one-row-to-sub-workspace", "shows one row on the last page of a sub-workspace's list", dataset.Main, dataset.SubA, onLast, oneRow},
	{"leaks-one-row-of-sub-workspace", "shows one row of a sub-workspace in the list of an unrelated one", dataset.Outsider, dataset.Second, onLast, oneRow},
}

// leakDefects show a row in the lists of two workspaces. The row names the
// workspace that sees it as its owner, so only a comparison of both lists
// reveals it.
func leakDefects() []Defect {
	var defects []Defect
	for _, op := range spec.Operations() {
		if op.Answer == spec.One {
			continue
		}
		for _, l := range leaks {
			defects = append(defects, breakingWith("ISOLATION-LIST", op.ID, l.damage, l.doc,
				func(a *Target) Middleware { return l.apply(a, op.ID) }))
		}
	}
	return defects
}

func (l leak) apply(a *Target, operation string) Middleware {
	fits, asks, token := l.page(a), a.asks(l.to), a.key(l.from)
	return func(next Handler) Handler {
		return withItems(operation, func(r Request, page any, items []any) []any {
			if !asks(r) || !fits(r, page) {
				return items
			}
			answer, err := next(ownRequest(operation, token))
			body, ok := decode(answer.Body)
			if err != nil || !ok || answer.Status != http.StatusOK {
				return items
			}
			var foreign []any
			for _, row := range rowsIn(operation, body) {
				claim(operation, row, a.Profile.Workspaces[l.to].ID)
				foreign = append(foreign, row)
			}
			return append(items, l.rows(foreign)...)
		})(next)
	}
}

// ownerDefects name another workspace as the owner of what they show.
func ownerDefects() []Defect {
	const requirement = "ISOLATION-OWNER"
	var defects []Defect
	for _, operation := range boundTo(requirement) {
		names := func(damage, doc string, fits onePage, choose rowChoice, owner func(a *Target, r Request) string) {
			defects = append(defects, breakingWith(requirement, operation, damage, doc, func(a *Target) Middleware {
				return onBody(operation, http.StatusOK, func(r Request, body any) any {
					if fits(r, body) {
						for _, row := range choose(rowsIn(operation, body)) {
							claim(operation, row, owner(a, r))
						}
					}
					return body
				})
			}))
		}
		names("owned-by-another", "names another workspace as the owner", anyPage, eachRow, secondWorkspace)
		names("owned-by-nobody", "names a workspace that does not exist as the owner", anyPage, eachRow, noWorkspace)
		if spec.MustOperation(operation).Answer != spec.One {
			names("last-row-owned-by-another", "names another workspace as the owner of the last row of a page", anyPage, finalRow, secondWorkspace)
			names("very-last-row-owned-by-another", "names another workspace as the owner of the last row of the list", isLast, finalRow,
				secondWorkspace)
		}
	}
	return defects
}

func anyPage(Request, any) bool { return true }

func secondWorkspace(a *Target, _ Request) string { return a.Profile.Workspaces[dataset.Second].ID }

// noWorkspace returns an id that belongs to no workspace.
func noWorkspace(a *Target, r Request) string {
	key, _ := a.keyOf(r)
	return anotherID(a.Profile.Workspaces[key.Workspace].ID)
}

// asOwner answers a request for another workspace's resource as its owner would
// be answered, in the name of the requesting workspace. It deletes nothing. ok
// is false if the resource does not belong to the other workspace either.
func (a *Target) asOwner(next Handler, r Request) (Response, bool) {
	second := a.Profile.Workspaces[dataset.Second]
	token := a.key(dataset.Second)
	key, _ := a.keyOf(r)
	asking := r.withToken(token)
	var named renaming
	switch r.Operation {
	case spec.DeletePlacementTest:
		asking = asking.redirected(spec.GetPlacementTest, r.ID)
	case spec.DeleteSubsequence:
		row, ok := a.rowByID(next, spec.ListSubsequences, token, r.ID)
		if !ok {
			return Response{}, false
		}
		claim(r.Operation, row, a.Profile.Workspaces[key.Workspace].ID)
		return served(row), true
	case spec.MoveLead:
		body, _ := objectIn(r)
		if !slices.Contains(second.Leads, textOf(body, "id")) {
			return Response{}, false
		}
		asking = asking.withBodyMember("subsequence_id", named.add(textOf(body, "subsequence_id"), first(second.Subsequences)))
	}
	answer, err := next(asking)
	row, ok := decode(named.undo(answer.Body))
	object, isObject := row.(map[string]any)
	if err != nil || !ok || !isObject || answer.Status != http.StatusOK {
		return Response{}, false
	}
	claim(r.Operation, object, a.Profile.Workspaces[key.Workspace].ID)
	return served(object), true
}

// onForeign changes the refusal of a request for another workspace's resource,
// given its owner's answer.
func (a *Target) onForeign(operation string, change func(r Request, refusal, owners Response) Response) Middleware {
	return func(next Handler) Handler {
		return where(operation, a.asks(dataset.Main), func(next Handler, r Request) (Response, error) {
			answer, err := next(r)
			if err != nil || answer.Status == http.StatusOK {
				return answer, err
			}
			if owners, ok := a.asOwner(next, r); ok {
				return change(r, answer, owners), nil
			}
			return answer, nil
		})(next)
	}
}

// foreignIDDefects serve another workspace's resource by id, or return 500.
func foreignIDDefects() []Defect {
	const requirement = "ISOLATION-ID"
	var defects []Defect
	for _, operation := range boundTo(requirement) {
		defects = append(defects,
			breakingWith(requirement, operation, "serves-foreign-id", "serves another workspace's resource", func(a *Target) Middleware {
				return a.onForeign(operation, func(_ Request, _, owners Response) Response { return owners })
			}),
			breakingWith(requirement, operation, "serves-other-workspaces", "serves the main workspace's resource to another one's key",
				func(a *Target) Middleware { return a.toOthers(operation, a.asMain) }),
			breakingWith(requirement, operation, "breaks-on-other-workspaces", "returns 500 for the main workspace's resource to another one's key",
				func(a *Target) Middleware { return a.toOthers(operation, failingForMain) }),
			breakingWith(requirement, operation, "breaks-on-foreign-id", "returns 500 for another workspace's resource", func(a *Target) Middleware {
				return a.onForeign(operation, func(Request, Response, Response) Response { return refusal(http.StatusInternalServerError) })
			}))
	}
	withMetadata := func(r Request) bool { return r.Query.Get("with_metadata") == "true" }
	return append(defects,
		breakingWith(requirement, spec.GetPlacementTest, "serves-foreign-id-with-metadata", "serves another workspace's test with its metadata",
			func(a *Target) Middleware {
				return a.onForeign(spec.GetPlacementTest, func(r Request, refusal, owners Response) Response {
					if withMetadata(r) {
						return owners
					}
					return refusal
				})
			}),
		breakingWith(requirement, spec.GetPlacementTest, "serves-other-workspaces-with-metadata",
			"serves the main workspace's test with its metadata to another one's key",
			func(a *Target) Middleware {
				return a.toOthers(spec.GetPlacementTest, func(next Handler, r Request) (Response, bool) {
					if !withMetadata(r) {
						return Response{}, false
					}
					return a.asMain(next, r)
				})
			}))
}

// toOthers changes the refusals of requests of an unrelated workspace, given the key of
// the main one.
func (a *Target) toOthers(operation string, act func(next Handler, r Request) (Response, bool)) Middleware {
	return func(next Handler) Handler {
		return where(operation, a.asks(dataset.Outsider), func(next Handler, r Request) (Response, error) {
			answer, err := next(r)
			if err != nil || answer.Status == http.StatusOK {
				return answer, err
			}
			if changed, ok := act(next, r.withToken(a.key(dataset.Main))); ok {
				return changed, nil
			}
			return answer, nil
		})(next)
	}
}

// asMain answers as the main workspace would be answered, but deletes nothing. ok is
// false if the resource does not belong to it.
func (a *Target) asMain(next Handler, r Request) (Response, bool) {
	switch r.Operation {
	case spec.DeleteSubsequence:
		row, ok := a.rowByID(next, spec.ListSubsequences, a.key(dataset.Main), r.ID)
		return served(row), ok
	case spec.DeletePlacementTest:
		r = r.redirected(spec.GetPlacementTest, r.ID)
	case spec.MoveLead:
		r = r.withBodyMember("subsequence_id", first(a.Profile.Workspaces[dataset.Main].Subsequences))
	}
	answer, err := next(r)
	return answer, err == nil && answer.Status == http.StatusOK
}

// failingForMain answers 500 if the resource belongs to the main workspace.
func failingForMain(next Handler, r Request) (Response, bool) {
	if r.Operation == spec.MoveLead {
		return refusal(http.StatusInternalServerError), true
	}
	if spec.MustOperation(r.Operation).Method == http.MethodDelete {
		return refusal(http.StatusInternalServerError), true
	}
	answer, err := next(r)
	return refusal(http.StatusInternalServerError), err == nil && answer.Status == http.StatusOK
}

// foreignSubsequenceDefects move a lead to another workspace's subsequence, or
// return 500.
func foreignSubsequenceDefects() []Defect {
	const requirement, operation = "ISOLATION-SUBSEQUENCE", spec.MoveLead
	naming := func(damage, doc string, answer func(*Target) behaviour) Defect {
		return breakingWith(requirement, operation, damage, doc, func(a *Target) Middleware {
			second := a.Profile.Workspaces[dataset.Second]
			return where(operation, func(r Request) bool {
				body, _ := objectIn(r)
				return a.asks(dataset.Main)(r) && slices.Contains(slices.Concat(second.Subsequences, second.ExpendableSubsequences),
					textOf(body, "subsequence_id"))
			}, answer(a))
		})
	}
	return []Defect{
		naming("to-foreign-subsequence", "moves a lead to another workspace's subsequence", func(a *Target) behaviour {
			return inTheNameOf(first(a.Profile.Workspaces[dataset.Main].Subsequences))
		}),
		naming("breaks-on-foreign-subsequence", "returns 500 for another workspace's subsequence", func(*Target) behaviour {
			return refusing(http.StatusInternalServerError)
		}),
	}
}

// foreignDeletionDefects refuse to delete another workspace's resource but hide
// it from its owner.
func foreignDeletionDefects() []Defect {
	const requirement = "ISOLATION-UNTOUCHED"
	var defects []Defect
	for _, operation := range boundTo(requirement) {
		defects = append(defects, breakingWith(requirement, operation, "refuses-and-deletes",
			"refuses to delete another workspace's resource but deletes it", func(a *Target) Middleware {
				return func(next Handler) Handler {
					var gone sync.Map // ids
					isGone := func(id string) bool { _, ok := gone.Load(id); return ok }
					return Chain(
						a.onForeign(operation, func(r Request, refusal, _ Response) Response {
							gone.Store(r.ID, true)
							return refusal
						}),
						where(spec.GetPlacementTest, func(r Request) bool { return isGone(r.ID) }, refusing(http.StatusNotFound)),
						withoutRows(listOf[operation], func(_ Request, row map[string]any) bool { return isGone(textOf(row, "id")) }),
					)(next)
				}
			}))
		defects = append(defects, breakingWith(requirement, operation, "refuses-others-and-deletes",
			"refuses another workspace's request to delete a resource of the main one but deletes it", func(a *Target) Middleware {
				return func(next Handler) Handler {
					return where(operation, a.asks(dataset.Outsider), func(next Handler, r Request) (Response, error) {
						answer, err := next(r)
						if err == nil && answer.Status != http.StatusOK {
							_, err = next(r.withToken(a.key(dataset.Main)))
						}
						return answer, err
					})(next)
				}
			}))
	}
	return defects
}

// foreignFilterDefects search in another workspace if a filter finds nothing in
// its own, or if one filter is set.
func foreignFilterDefects() []Defect {
	const requirement = "ISOLATION-FILTER"
	var defects []Defect
	for _, operation := range boundTo(requirement) {
		finds := func(damage, what string, rows func([]any) []any) Defect {
			return breakingWith(requirement, operation, damage, "shows "+what+" of another workspace when filtering by its resource",
				func(a *Target) Middleware {
					asks, token := a.asks(dataset.Main), a.key(dataset.Second)
					return func(next Handler) Handler {
						return withItems(operation, func(r Request, _ any, items []any) []any {
							if len(items) > 0 || !asks(r) || !a.filtersRows(r) {
								return items
							}
							answer, err := next(r.withToken(token))
							body, ok := decode(answer.Body)
							if err != nil || !ok {
								return items
							}
							var foreign []any
							for _, row := range rowsIn(operation, body) {
								claim(operation, row, a.Profile.Workspaces[dataset.Main].ID)
								foreign = append(foreign, row)
							}
							return append(items, rows(foreign)...)
						})(next)
					}
				})
		}
		defects = append(defects,
			finds("filter-reaches-another", "all rows", everyRowOf),
			finds("filter-reaches-one-row-of-another", "one row", oneRow))
	}
	for _, f := range filterTable {
		defects = append(defects, breakingWith(requirement, f.operation, f.name+"-reaches-another", "also shows rows of another workspace, in the filter by "+f.field,
			func(a *Target) Middleware {
				name, asks, token := a.parameter(f.operation, f.meaning), a.asks(dataset.Main), a.key(dataset.Second)
				return a.paged(f.operation, paging{before: func(s *page) {
					if !asks(s.request) || !f.is(s.request.Query.Get(name)) {
						s.size = 0
						return
					}
					s.list = slices.Clone(s.list)
					for _, row := range s.read(func(r Request) Request { return r.withToken(token) }) {
						fields := maps.Clone(row.fields)
						claim(f.operation, fields, a.Profile.Workspaces[dataset.Main].ID)
						s.list = append(s.list, listRow{encode(fields), fields})
					}
					slices.SortFunc(s.list, func(x, y listRow) int { return strings.Compare(x.same(), y.same()) })
					if s.request.Query.Get("sort_order") == "desc" {
						slices.Reverse(s.list)
					}
				}})
			}))
	}
	return defects
}

// foreignAccountDefects let an admin workspace move accounts of another one's
// sub-workspaces.
func foreignAccountDefects() []Defect {
	const requirement, operation = "ISOLATION-ACCOUNTS", spec.MoveAccounts
	other := asker{"other-admin-key", "a move with the key of another admin workspace", func(a *Target, r Request) bool {
		m := a.moveIn(r)
		return a.isAdmin(m.asker) && a.isElsewhere(m.source, m.asker) && a.isElsewhere(m.destination, m.asker)
	}}
	return append(misrefused(operation, requirement, other, http.StatusInternalServerError),
		wrongfullyServed(operation, requirement, other),
		whenAsked(operation, requirement, other, "told-success", "reports success to %s without acting",
			func(*Target) behaviour { return moved }),
		movedAnyway(requirement, other, http.StatusForbidden))
}

package faults

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/spec"
)

// deletions records what an operation deleted.
type deletions struct {
	operation string
	mu        sync.Mutex
	rows      map[string]any // by id
}

// watch records what passes.
func (d *deletions) watch(next Handler) Handler {
	return func(r Request) (Response, error) {
		answer, err := next(r)
		if r.Operation != d.operation || err != nil || answer.Status != http.StatusOK {
			return answer, err
		}
		if row, ok := decode(answer.Body); ok {
			d.mu.Lock()
			defer d.mu.Unlock()
			if d.rows == nil {
				d.rows = map[string]any{}
			}
			d.rows[r.ID] = row
		}
		return answer, err
	}
}

// row returns the resource deleted under the id.
func (d *deletions) row(id string) (any, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	row, ok := d.rows[id]
	return row, ok
}

// all returns the deleted resources in the order of their ids.
func (d *deletions) all() []any {
	d.mu.Lock()
	defer d.mu.Unlock()
	var rows []any
	for _, id := range slices.Sorted(maps.Keys(d.rows)) {
		rows = append(rows, d.rows[id])
	}
	return rows
}

// afterDeletion applies a middleware that knows what the operation deleted.
func afterDeletion(operation string, apply func(*deletions) Middleware) Middleware {
	return func(next Handler) Handler {
		gone := &deletions{operation: operation}
		return Chain(apply(gone), gone.watch)(next)
	}
}

// asGone changes the answers to an operation's requests for a deleted resource.
func asGone(deleting, operation string, answer func(row any) Response) Middleware {
	return afterDeletion(deleting, func(gone *deletions) Middleware {
		isGone := func(r Request) bool { _, ok := gone.row(r.ID); return ok }
		return where(operation, isGone, func(_ Handler, r Request) (Response, error) {
			row, _ := gone.row(r.ID)
			return answer(row), nil
		})
	})
}

func refusedAs(status int) func(any) Response { return func(any) Response { return refusal(status) } }

func unchanged(row any) Response { return served(row) }

// deleteDefects delete nothing, something else, or too much.
func deleteDefects() []Defect {
	var defects []Defect
	for _, operation := range []string{spec.DeletePlacementTest, spec.DeleteSubsequence} {
		defects = append(defects, deleteAnswerDefects(operation)...)
		defects = append(defects, notDeletedDefects(operation)...)
		defects = append(defects, deletesMoreDefects(operation)...)
	}
	return slices.Concat(defects, getDeletedDefects(), notDeletedKinds(), []Defect{namesakeDefect(), referredDefect()})
}

// deletedFields lists fields that a deletion does not change, with a damage for
// each.
var deletedFields = map[string][]struct {
	name string
	damage
}{
	spec.DeletePlacementTest: {
		{"id", otherID}, {"name", cutShort}, {"type", another("1", "2")}, {"sending_method", another("1", "2")}, {"email_subject", caseFlipped},
		{"email_body", markupEscaped}, {"emails", firstLost}, {"timestamp_created", hourLater}, {"description", nulled}, {"tags", nulled},
	},
	spec.DeleteSubsequence: {
		{"id", otherID}, {"name", cutShort}, {"timestamp_created", hourLater}, {"parent_campaign", otherID},
		{"conditions", member("reply_contains", on("marked", "with an extra character", func(s string) any { return s + "." }))},
		{"sequences", firstStepTwice}, {"sequences", emptied}, {"daily_limit_mode", another("inherit", "custom", "unlimited")},
		{"ignore_account_daily_limit", negated},
	},
}

// deleteAnswerDefects answer with something other than the deleted resource.
func deleteAnswerDefects(operation string) []Defect {
	const requirement = "STATE-DELETE-ANSWER"
	var defects []Defect
	for _, field := range deletedFields[operation] {
		defects = append(defects, breaking(requirement, operation, "answers-"+field.name+"-"+field.damage.name,
			"answers a deletion with "+field.name+" "+field.doc, onRows(operation, func(_ Request, rows []map[string]any) {
				for _, row := range rows {
					field.apply(row, field.name)
				}
			})))
	}
	another := func(damage, doc string, change func(r Request, other map[string]any)) Defect {
		return breakingWith(requirement, operation, damage, doc, func(a *Target) Middleware {
			return where(operation, anyRequest, func(next Handler, r Request) (Response, error) {
				rows := a.readList(next, listOf[operation], a.readerOf(r))
				answer, err := next(r)
				i := slices.IndexFunc(rows, func(row map[string]any) bool { return row["id"] != r.ID })
				if err != nil || answer.Status != http.StatusOK || i < 0 {
					return answer, err
				}
				change(r, rows[i])
				return served(rows[i]), nil
			})
		})
	}
	return append(defects,
		another("answers-another", "answers a deletion with another resource of the list", func(Request, map[string]any) {}),
		another("answers-another-under-its-id", "answers a deletion with another resource under the id of the deleted one",
			func(r Request, other map[string]any) { other["id"] = r.ID }),
	)
}

// notDeletedDefects keep the deleted resource in the list, or find it a second
// time.
func notDeletedDefects(operation string) []Defect {
	ghost := func(damage, where string, page func(*Target) onePage) Defect {
		return breakingWith("STATE-DELETE-LIST", operation, damage, "shows the deleted resource on "+where+" of the list",
			func(a *Target) Middleware {
				return afterDeletion(operation, func(gone *deletions) Middleware {
					fits := page(a)
					return withItems(listOf[operation], func(r Request, page any, items []any) []any {
						if !fits(r, page) {
							return items
						}
						return append(items, gone.all()...)
					})
				})
			})
	}
	defects := ghostsOfQueries(operation)
	return append(defects,
		breaking("STATE-DELETE-AGAIN", operation, "restores", "refuses a second deletion and restores the resource", restoring(operation)),
		breakingWith("STATE-DELETE-LIST", operation, "does-nothing", "reports a deletion without deleting anything", notDeleting(operation)),
		ghost("stays-on-first-page", "the first page", func(a *Target) onePage { return a.isFirst }),
		ghost("stays-on-last-page", "the last page", func(*Target) onePage { return isLast }),
		breaking("STATE-DELETE-AGAIN", operation, "twice-served", "answers a second deletion like the first",
			asGone(operation, operation, unchanged)),
		breaking("STATE-DELETE-AGAIN", operation, "twice-410", "answers a second deletion with 410",
			asGone(operation, operation, refusedAs(http.StatusGone))),
		breaking("STATE-DELETE-AGAIN", operation, "twice-400", "answers a second deletion with 400",
			asGone(operation, operation, refusedAs(http.StatusBadRequest))),
		breaking("STATE-DELETE-AGAIN", operation, "twice-500", "returns 500 for a second deletion",
			asGone(operation, operation, refusedAs(http.StatusInternalServerError))),
	)
}

// restoring shows a deleted resource again once its deletion was repeated.
func restoring(operation string) Middleware {
	return afterDeletion(operation, func(gone *deletions) Middleware {
		back := &deletions{rows: map[string]any{}}
		isBack := func(r Request) bool { _, ok := back.row(r.ID); return ok }
		again := where(operation, func(r Request) bool { _, ok := gone.row(r.ID); return ok }, func(next Handler, r Request) (Response, error) {
			answer, err := next(r)
			if row, ok := gone.row(r.ID); ok && err == nil && answer.Status == http.StatusNotFound {
				back.mu.Lock()
				defer back.mu.Unlock()
				back.rows[r.ID] = row
			}
			return answer, err
		})
		get := where(spec.GetPlacementTest, isBack, func(_ Handler, r Request) (Response, error) {
			row, _ := back.row(r.ID)
			return served(row), nil
		})
		return Chain(again, get, withItems(listOf[operation], func(r Request, page any, items []any) []any {
			if !isLast(r, page) {
				return items
			}
			return append(items, back.all()...)
		}))
	})
}

// referredDefect keeps a subsequence to which a lead was moved.
func referredDefect() Defect {
	return breaking("STATE-DELETE-ANSWER", spec.DeleteSubsequence, "referred-to", "refuses to delete a subsequence to which a lead was moved", func(next Handler) Handler {
		var referred sync.Map
		refuse := where(spec.DeleteSubsequence, func(r Request) bool { _, ok := referred.Load(r.ID); return ok },
			func(next Handler, r Request) (Response, error) {
				answer, err := next(r.redirected(spec.ListSubsequences, ""))
				if err == nil && answer.Status == http.StatusOK {
					answer = refusal(http.StatusConflict)
				}
				return answer, err
			})
		note := onAnswer(spec.MoveLead, http.StatusOK, func(_ Request, answer Response) Response {
			referred.Store(textIn(answer, "subsequence_id"), true)
			return answer
		})
		return Chain(refuse, note)(next)
	})
}

// ghostsOfQueries keep the deleted resource in the list of one query: that of a filter which
// selects it, or that of a sort order.
func ghostsOfQueries(operation string) []Defect {
	list := listOf[operation]
	ghost := func(name, doc, meaning string, fits func(value string, row map[string]any) bool) Defect {
		return breakingWith("STATE-DELETE-LIST", operation, "stays-under-"+name, "shows the deleted resource "+doc, func(a *Target) Middleware {
			parameter := a.parameter(list, meaning)
			return afterDeletion(operation, func(gone *deletions) Middleware {
				return withItems(list, func(r Request, page any, items []any) []any {
					if !r.Query.Has(parameter) || !isLast(r, page) {
						return items
					}
					for _, row := range gone.all() {
						if row, ok := row.(map[string]any); ok && fits(r.Query.Get(parameter), row) {
							items = append(items, row)
						}
					}
					return items
				})
			})
		})
	}
	var defects []Defect
	for _, f := range filterTable {
		if f.operation == list {
			defects = append(defects, ghost(f.name, "in the list that is filtered by "+f.field, f.meaning, f.mayShow))
			defects = append(defects, ghostsOfPairs(operation, f)...)
		}
	}
	for _, flag := range flagValues[list] {
		defects = append(defects, ghost(flag.name+"-"+flag.value, "in the list with "+flag.name+"="+flag.value, flag.meaning,
			func(value string, _ map[string]any) bool { return value == flag.value }))
	}
	return defects
}

// mayShow reports whether the filter may show the row if it has that value.
func (f filter) mayShow(value string, row map[string]any) bool {
	return (fmt.Sprint(row[f.field]) == value) != (f.kind == excluded)
}

// ghostsOfPairs keep the deleted resource in the list that the filter and a later one of the
// table select together.
func ghostsOfPairs(operation string, f filter) []Defect {
	var defects []Defect
	for _, other := range filterTable[slices.IndexFunc(filterTable, func(g filter) bool { return g.operation == f.operation && g.name == f.name })+1:] {
		if other.operation != f.operation {
			continue
		}
		defects = append(defects, breakingWith("STATE-DELETE-LIST", operation, "stays-under-"+f.name+"-and-"+other.name,
			"shows the deleted resource in the list that is filtered by "+f.name+" and "+other.name, func(a *Target) Middleware {
				one, two := a.parameter(f.operation, f.meaning), a.parameter(f.operation, other.meaning)
				return afterDeletion(operation, func(gone *deletions) Middleware {
					return withItems(f.operation, func(r Request, page any, items []any) []any {
						if !r.Query.Has(one) || !r.Query.Has(two) || !isLast(r, page) {
							return items
						}
						for _, row := range gone.all() {
							if row, ok := row.(map[string]any); ok && f.mayShow(r.Query.Get(one), row) && other.mayShow(r.Query.Get(two), row) {
								items = append(items, row)
							}
						}
						return items
					})
				})
			}))
	}
	return defects
}

// notDeleting answers a deletion with the resource and keeps it.
func notDeleting(operation string) func(*Target) Middleware {
	return notDeletingSome(operation, func(map[string]any) bool { return true })
}

// notDeletingSome is notDeleting for the resources that fit.
func notDeletingSome(operation string, fits func(row map[string]any) bool) func(*Target) Middleware {
	return func(a *Target) Middleware {
		return where(operation, anyRequest, func(next Handler, r Request) (Response, error) {
			row, ok := a.rowByID(next, listOf[operation], a.readerOf(r), r.ID)
			if !ok || !fits(row) {
				return next(r)
			}
			return served(row), nil
		})
	}
}

// notDeletedKinds keep the tests of one kind only.
func notDeletedKinds() []Defect {
	var defects []Defect
	for _, kind := range []struct{ field, value, who string }{
		{"status", "1", "active tests"}, {"status", "2", "paused tests"}, {"status", "3", "completed tests"}, {"type", "2", "automated tests"},
		{"sending_method", "1", "tests with sending_method 1"}, {"sending_method", "2", "tests with sending_method 2"},
		{"delivery_mode", "1", "tests with delivery_mode 1"}, {"delivery_mode", "2", "tests with delivery_mode 2"},
	} {
		defects = append(defects, breakingWith("STATE-DELETE-LIST", spec.DeletePlacementTest,
			strings.ReplaceAll("keeps-"+kind.field+"-"+kind.value, "_", "-"), "reports the deletion of "+kind.who+" and keeps them",
			notDeletingSome(spec.DeletePlacementTest, func(row map[string]any) bool { return fmt.Sprint(row[kind.field]) == kind.value })))
	}
	return defects
}

// getDeletedDefects find a deleted test.
func getDeletedDefects() []Defect {
	const requirement, operation, get = "STATE-DELETE-GET", spec.DeletePlacementTest, spec.GetPlacementTest
	return []Defect{
		breakingWith(requirement, operation, "leaves-all", "reports a deletion but keeps the test", notDeleting(operation)),
		breaking(requirement, operation, "leaves-a-copy", "still shows a deleted test in a get, though not in the list",
			asGone(operation, get, unchanged)),
		breaking(requirement, operation, "leaves-a-copy-with-metadata", "still shows a deleted test in a get with its metadata",
			afterDeletion(operation, func(gone *deletions) Middleware {
				return where(get, func(r Request) bool {
					_, ok := gone.row(r.ID)
					return ok && r.Query.Get("with_metadata") == "true"
				}, func(_ Handler, r Request) (Response, error) {
					row, _ := gone.row(r.ID)
					return served(row), nil
				})
			})),
		breaking(requirement, operation, "get-410", "answers 410 to a get of a deleted test", asGone(operation, get, refusedAs(http.StatusGone))),
		breaking(requirement, operation, "get-400", "answers 400 to a get of a deleted test",
			asGone(operation, get, refusedAs(http.StatusBadRequest))),
		breaking(requirement, operation, "get-500", "returns 500 for a get of a deleted test",
			asGone(operation, get, refusedAs(http.StatusInternalServerError))),
	}
}

// deletesMoreDefects remove others from the list together with the deleted
// resource. They hide them and delete nothing.
func deletesMoreDefects(operation string) []Defect {
	victims := []struct {
		damage, who string
		of          func(ids []string, i int) []string // ids in order that are not taken; the deleted one is at i
	}{
		{"takes-another", "one in the middle of the list", func(ids []string, i int) []string {
			middle := len(ids) / 2
			if i >= middle-1 && i <= middle+1 {
				middle += 3
			}
			return ids[min(middle, len(ids)):min(middle+1, len(ids))]
		}},
		{"takes-the-next", "the next newer one", func(ids []string, i int) []string { return ids[i+1 : min(i+2, len(ids))] }},
		{"takes-the-one-before", "the next older one", func(ids []string, i int) []string { return ids[max(i-1, 0):i] }},
		{"takes-the-younger", "all newer ones", func(ids []string, i int) []string { return ids[i+1:] }},
		{"takes-the-older", "all older ones", func(ids []string, i int) []string { return ids[:i] }},
	}
	var defects []Defect
	for _, v := range victims {
		defects = append(defects, breakingWith("STATE-DELETE-OTHERS", operation, v.damage, "also deletes "+v.who, func(a *Target) Middleware {
			return func(next Handler) Handler {
				var mu sync.Mutex
				hidden := map[string]bool{}
				hide := withoutRows(listOf[operation], func(_ Request, row map[string]any) bool {
					mu.Lock()
					defer mu.Unlock()
					return hidden[textOf(row, "id")]
				})
				take := where(operation, anyRequest, func(next Handler, r Request) (Response, error) {
					ids := idsInOrder(a.readList(next, listOf[operation], a.readerOf(r)))
					mu.Lock()
					ids = slices.DeleteFunc(ids, func(id string) bool { return hidden[id] && id != r.ID })
					mu.Unlock()
					answer, err := next(r)
					if i, found := slices.BinarySearch(ids, r.ID); found && err == nil && answer.Status == http.StatusOK {
						mu.Lock()
						defer mu.Unlock()
						for _, id := range v.of(ids, i) {
							hidden[id] = true
						}
					}
					return answer, err
				})
				return Chain(hide, take)(next)
			}
		}))
	}
	return defects
}

// namesakeDefect also removes the tests of the same name from the list.
func namesakeDefect() Defect {
	return breakingWith("STATE-DELETE-OTHERS", spec.DeletePlacementTest, "takes-namesakes", "also deletes the tests of the same name", func(a *Target) Middleware {
		return func(next Handler) Handler {
			var mu sync.Mutex
			gone := map[string]bool{}
			hide := withoutRows(spec.ListPlacementTests, func(_ Request, row map[string]any) bool {
				mu.Lock()
				defer mu.Unlock()
				return gone[textOf(row, "name")]
			})
			take := onRows(spec.DeletePlacementTest, func(_ Request, rows []map[string]any) {
				mu.Lock()
				defer mu.Unlock()
				for _, row := range rows {
					gone[textOf(row, "name")] = true
				}
			})
			return Chain(hide, take)(next)
		}
	})
}

// idsInOrder returns the ids of rows in ascending order, which is the order of
// time.
func idsInOrder(rows []map[string]any) []string {
	ids := make([]string, 0, len(rows))
	for _, row := range rows {
		ids = append(ids, textOf(row, "id"))
	}
	slices.Sort(ids)
	return ids
}

// moveToDeletedDefects move leads to deleted subsequences, or break on the request.
func moveToDeletedDefects() []Defect {
	const requirement, operation = "STATE-DELETE-MOVE", spec.MoveLead
	moving := func(damage, doc string, answer func(*Target) behaviour) Defect {
		return breakingWith(requirement, operation, damage, doc, func(a *Target) Middleware {
			return afterDeletion(spec.DeleteSubsequence, func(gone *deletions) Middleware {
				return where(operation, func(r Request) bool {
					body, _ := objectIn(r)
					_, ok := gone.row(textOf(body, "subsequence_id"))
					return ok
				}, answer(a))
			})
		})
	}
	defects := []Defect{moving("to-deleted-served", "moves a lead to a deleted subsequence", func(a *Target) behaviour {
		return inTheNameOf(first(a.Profile.Workspaces[dataset.Main].Subsequences))
	})}
	for _, status := range []int{http.StatusFound, http.StatusInternalServerError, http.StatusBadGateway} {
		defects = append(defects, moving(fmt.Sprintf("to-deleted-%d", status),
			fmt.Sprintf("answers %d to the move of a lead to a deleted subsequence", status),
			func(*Target) behaviour { return refusing(status) }))
	}
	return defects
}

// inTheNameOf moves a lead to that subsequence and shows the named one in the
// answer.
func inTheNameOf(subsequence string) behaviour {
	return func(next Handler, r Request) (Response, error) {
		body, _ := objectIn(r)
		var names renaming
		body["subsequence_id"] = names.add(textOf(body, "subsequence_id"), subsequence)
		r.Body = encode(body)
		answer, err := next(r)
		answer.Body = names.undo(answer.Body)
		return answer, err
	}
}

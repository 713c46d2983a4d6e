package hostile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"outreach.example/conformance/spec"
)

// writing selects checks that create, read and delete placement tests.
var writing = judging(strings.Join([]string{spec.CreatePlacementTest, spec.GetPlacementTest, spec.DeletePlacementTest}, ","), "shape,state")

// state are targets that store other things than they say. The tests verify after each run
// that every row is still there which was there before.
func state() []Behaviour {
	const (
		ours = "rows that the run did not create are not its own"
		kept = "How the specification is read: created rows are kept"
	)
	// creating changes the answers to creations; first is the first row of the list.
	creating := func(name, doc, why string, v Verdict, change func(created map[string]any, first map[string]any)) Behaviour {
		return Behaviour{Name: "state/" + name, Doc: doc, Why: why, Args: writing, Verdict: v, Leaves: "the ids of created rows are unknown",
			Play: func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					a := ask(next, r)
					if isOperation(r, spec.CreatePlacementTest) && a.status == http.StatusOK {
						created := decode(a.body).(map[string]any)
						change(created, firstTest(next, r))
						a.body = encode(created)
					}
					a.send(w)
				})
			}}
	}
	operation := func(id, name, doc, why string, v Verdict, respond func(w http.ResponseWriter, r *http.Request, next http.Handler)) Behaviour {
		return Behaviour{Name: "state/" + name, Doc: doc, Why: why, Args: writing, Verdict: v, Leaves: "the server does not do as it is asked",
			Play: func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if isOperation(r, id) && token(r) != "" {
						respond(w, r, next)
						return
					}
					next.ServeHTTP(w, r)
				})
			}}
	}
	broken := fails("STATE-*", "META-*", "SHAPE-*", "STATUS-200", "STATUS-ALLOWED", "NOT-FOUND")
	broken.Fails = []string{"*"}
	hidden := func(b Behaviour) Behaviour {
		b.Hidden = true
		return b
	}
	return []Behaviour{
		creating("create-returns-existing-row", "answers each creation with a row that existed before", ours, broken, func(created, first map[string]any) {
			clear(created)
			for name, value := range first {
				created[name] = value
			}
		}),
		creating("create-returns-existing-id", "answers each creation with the id of a row that existed before", ours, broken, func(created, first map[string]any) { created["id"] = first["id"] }),
		creating("create-returns-same-id", "answers every creation with the same unknown id", ours, broken, func(created, _ map[string]any) { created["id"] = "01900000-0000-7000-8000-00000000abcd" }),
		creating("create-without-id", "answers creations without an id", kept, broken, func(created, _ map[string]any) { delete(created, "id") }),
		creating("create-with-path-as-id", "answers creations with an id that climbs directories", kept, broken, func(created, _ map[string]any) { created["id"] = "../workspace-members" }),
		creating("create-with-number-as-id", "answers creations with a number as an id", kept, broken, func(created, _ map[string]any) { created["id"] = json.Number("7") }),
		creating("create-renames", "answers creations with another name", kept, broken, func(created, _ map[string]any) { created["name"] = "other" }),
		operation(spec.CreatePlacementTest, "create-stores-nothing", "stores nothing", kept, broken, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			a := ask(next, r)
			if row, ok := decode(a.body).(map[string]any); ok && a.status == http.StatusOK {
				remove(next, r, fmt.Sprint(row["id"]))
			}
			a.send(w)
		}),
		operation(spec.CreatePlacementTest, "create-is-lost", "stores rows and closes the connection", "a creation whose response is lost leaves a row", Verdict{Codes: []int{exitFail, exitInconclusive}, Fails: []string{"*"}},
			func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				ask(next, r)
				panic(http.ErrAbortHandler)
			}),
		operation(spec.CreatePlacementTest, "create-fails-after-storing", "stores rows and answers 500", onlyThese, broken, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			ask(next, r)
			refuse(http.StatusInternalServerError, "stored, but").send(w)
		}),
		hidden(operation(spec.CreatePlacementTest, "create-twice", "stores each row twice", kept, Verdict{Codes: []int{exitPass, exitFail}, Fails: []string{"*"}}, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			text, _ := io.ReadAll(r.Body)
			again := r.Clone(r.Context())
			again.Body, r.Body = io.NopCloser(bytes.NewReader(text)), io.NopCloser(bytes.NewReader(text))
			ask(next, again)
			next.ServeHTTP(w, r)
		})),
		operation(spec.CreatePlacementTest, "create-answers-201", "answers creations with 201", onlyThese, broken, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			a := ask(next, r)
			if a.status == http.StatusOK {
				a.status = http.StatusCreated
			}
			a.send(w)
		}),
		hidden(operation(spec.DeletePlacementTest, "delete-does-nothing", "answers deletions and deletes nothing", "Delete: returns the deleted test", broken, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			get := r.Clone(r.Context())
			get.Method = http.MethodGet
			next.ServeHTTP(w, get)
		})),
		operation(spec.DeletePlacementTest, "delete-fails-after-deleting", "deletes rows and answers 500", onlyThese, broken, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			ask(next, r)
			refuse(http.StatusInternalServerError, "deleted, but").send(w)
		}),
		operation(spec.DeletePlacementTest, "delete-refuses", "refuses deletions with 409", onlyThese, broken, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			refuse(http.StatusConflict, "in use").send(w)
		}),
		operation(spec.DeletePlacementTest, "delete-is-lost", "deletes rows and closes the connection", "a deletion whose response is lost may have happened", Verdict{Codes: []int{exitFail, exitInconclusive}, Fails: []string{"*"}},
			func(_ http.ResponseWriter, r *http.Request, next http.Handler) {
				ask(next, r)
				panic(http.ErrAbortHandler)
			}),
		operation(spec.GetPlacementTest, "get-shows-another-row", "shows another row than the one that is named", "Get: the test of the path", broken, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if first := firstTest(next, r); first != nil {
				r.URL.Path = spec.MustOperation(spec.GetPlacementTest).URLPath(fmt.Sprint(first["id"]))
			}
			next.ServeHTTP(w, r)
		}),
		operation(spec.ListPlacementTests, "list-hides-new-rows", "lists no row that a run created", "what a run looks for by name is not there", Verdict{Codes: []int{exitPass, exitFail}, Fails: []string{"*"}}, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			a := ask(next, r)
			a.body = withoutNew(a.body)
			a.send(w)
		}),
		operation(spec.ListPlacementTests, "list-calls-all-rows-conformance", "lists every row under a name like those of a run", ours, Verdict{Codes: []int{exitPass, exitFail}, Fails: []string{"*"}},
			func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				a := ask(next, r)
				page, _ := decode(a.body).(map[string]any)
				if a.status == http.StatusOK && page != nil {
					for _, row := range rowsIn(page) {
						row["name"] = "conformance " + fmt.Sprint(row["name"])
					}
					a.body = encode(page)
				}
				a.send(w)
			}),
		{Name: "state/rows-come-and-go", Doc: "is used by others, who create and delete rows during the run", Why: "the specification does not promise that a server rests", Args: judging(spec.ListPlacementTests, "shape,pages,filters"),
			Verdict: passes(), Leaves: "another client created them", Hidden: true,
			Play: func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if isOperation(r, spec.ListPlacementTests) && token(r) != "" {
						churn(next, r)
					}
					next.ServeHTTP(w, r)
				})
			}},
	}
}

// firstTest returns the oldest placement test that the request's key can see; nil for none.
func firstTest(next http.Handler, r *http.Request) map[string]any {
	list := spec.MustOperation(spec.ListPlacementTests)
	again := r.Clone(r.Context())
	again.Method, again.URL, again.Body = list.Method, &url.URL{Path: list.Path, RawQuery: "limit=1&sort_order=asc"}, http.NoBody
	if rows := rowsIn(decode(ask(next, again).body)); len(rows) > 0 {
		return rows[0]
	}
	return nil
}

// remove deletes a placement test with the key of the request.
func remove(next http.Handler, r *http.Request, id string) {
	op := spec.MustOperation(spec.DeletePlacementTest)
	again := r.Clone(r.Context())
	again.Method, again.URL, again.Body = op.Method, &url.URL{Path: op.URLPath(id)}, http.NoBody
	ask(next, again)
}

// churn creates a row and deletes it, as another client does between two pages.
func churn(next http.Handler, r *http.Request) {
	create := spec.MustOperation(spec.CreatePlacementTest)
	again := r.Clone(r.Context())
	again.Method, again.URL = create.Method, &url.URL{Path: create.Path}
	again.Body = io.NopCloser(strings.NewReader(`{"name":"of another client","type":1,"sending_method":1,"email_subject":"s","email_body":"b","emails":["a@example.com"]}`))
	again.Header.Set("Content-Type", "application/json")
	if row, ok := decode(ask(next, again).body).(map[string]any); ok {
		remove(next, r, fmt.Sprint(row["id"]))
	}
}

// withoutNew drops the rows of a page that a run created.
func withoutNew(text []byte) []byte {
	page, ok := decode(text).(map[string]any)
	items, isList := page["items"].([]any)
	if !ok || !isList {
		return text
	}
	old := []any{}
	for _, item := range items {
		if subject := fmt.Sprint(item.(map[string]any)["email_subject"]); !strings.HasPrefix(subject, "Placement check") {
			old = append(old, item)
		}
	}
	page["items"] = old
	return encode(page)
}

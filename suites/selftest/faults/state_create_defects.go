package faults

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"outreach.example/conformance/spec"
)

// creations records the body that created each test.
type creations struct {
	mu     sync.Mutex
	bodies map[string]map[string]any // by the test's id
}

// watch records what passes.
func (c *creations) watch(next Handler) Handler {
	return func(r Request) (Response, error) {
		answer, err := next(r)
		if r.Operation != spec.CreatePlacementTest || err != nil || answer.Status != http.StatusOK {
			return answer, err
		}
		if sent, ok := objectIn(r); ok {
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.bodies == nil {
				c.bodies = map[string]map[string]any{}
			}
			c.bodies[textIn(answer, "id")] = sent
		}
		return answer, err
	}
}

// sent returns the field's value in the body that created the test; nil if it
// was missing or null, or the test is older.
func (c *creations) sent(id, field string) any {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bodies[id][field]
}

// onCreated changes tests created with a value for the field, in the
// operation's answers.
func onCreated(operation, field string, change func(row map[string]any, sent any)) Middleware {
	return func(next Handler) Handler {
		made := &creations{}
		edit := onRows(operation, func(_ Request, rows []map[string]any) {
			for _, row := range rows {
				if sent := made.sent(textOf(row, "id"), field); sent != nil {
					change(row, sent)
				}
			}
		})
		return Chain(edit, made.watch)(next)
	}
}

// testFields lists the fields of the body that creates a test, with the ways to
// damage each.
var testFields = []struct {
	name    string
	damages []damage
}{
	{"name", []damage{cutShort, caseFlipped, recoded, blanksJoined}},
	{"type", []damage{another("1", "2")}},
	{"sending_method", []damage{another("1", "2")}},
	{"email_subject", []damage{cutShort, recoded, blanksJoined}},
	{"email_body", []damage{markupEscaped, cutShort, recoded, linesJoined}},
	{"emails", []damage{firstLost, emptied, firstTen}},
	{"delivery_mode", []damage{another("1", "2"), nulled}},
	{"description", []damage{cutShort, recoded, nulled, lost}},
	{"schedule", []damage{member("timezone", another("Etc/GMT+12", "Asia/Tokyo")), dayLost,
		member("timing", member("from", another("00:00", "09:31"))), lost}},
	{"campaign_id", []damage{otherID, nulled, lost}},
	{"test_code", []damage{caseFlipped, cutShort, nulled, lost, zerosLost}},
	{"tags", []damage{firstLost, emptied, nulled, lost}},
	{"text_only", []damage{negated, nulled, lost}},
	{"recipients_labels", []damage{firstTwice, memberLost, emptied, firstAlone}},
	{"timestamp_next_run", []damage{hourLater, nulled, lost}},
	{"automations", []damage{firstTwice, memberLost, emptied, nulled, lost}},
	{"status", []damage{another("1", "2", "3"), nulled}},
	{"not_sending_status", []damage{another("daily_limits_hit", "other"), nulled, lost}},
}

// testViews lists the operations that show a created test.
var testViews = []string{spec.CreatePlacementTest, spec.GetPlacementTest, spec.ListPlacementTests}

// storedDefects change a field of a created test in one of its views only.
func storedDefects() []Defect {
	var defects []Defect
	for _, field := range testFields {
		requirement := "STATE-CREATE-" + strings.ToUpper(field.name)
		for _, operation := range testViews {
			for _, d := range field.damages {
				defects = append(defects, breaking(requirement, operation, "created-"+field.name+"-"+d.name,
					"shows the "+field.name+" of a newly created test "+d.doc,
					onCreated(operation, field.name, func(row map[string]any, _ any) { d.apply(row, field.name) })))
			}
		}
		if slices.Contains(spec.CreateOptional, field.name) {
			defects = append(defects, unseenDefects(requirement, field.name)...)
		}
	}
	return defects
}

// togetherDefects show, in one view, another value of a created test that has a value in
// another field, too.
func togetherDefects() []Defect {
	pairs := []struct{ field, shown, beside, has string }{
		{"delivery_mode", "1", "type", "2"},
		{"sending_method", "1", "delivery_mode", "2"},
		{"text_only", "false", "sending_method", "2"},
		{"not_sending_status", `"other"`, "text_only", "true"},
		{"type", "1", "description", ""},
		{"schedule", "", "run_immediately", "true"},
		{"description", "", "run_immediately", "true"},
		{"tags", "", "run_immediately", "true"},
		{"test_code", "", "run_immediately", "true"},
	}
	var defects []Defect
	for _, p := range pairs {
		for _, operation := range testViews {
			defects = append(defects, breaking("STATE-CREATE-"+strings.ToUpper(p.field), operation, "created-"+p.field+"-lost-beside-"+p.beside,
				"shows another "+p.field+" of a newly created test with a certain "+p.beside,
				func(next Handler) Handler {
					made := &creations{}
					return Chain(onRows(operation, func(_ Request, rows []map[string]any) {
						for _, row := range rows {
							id := textOf(row, "id")
							beside := made.sent(id, p.beside)
							if made.sent(id, p.field) != nil && beside != nil && (p.has == "" || string(encode(beside)) == p.has) {
								row[p.field] = decodedOrNil([]byte(p.shown))
								if p.shown == "" {
									delete(row, p.field)
								}
							}
						}
					}), made.watch)(next)
				}))
		}
	}
	return defects
}

// inheritedDefects show, in one view, the value of the creation before if the body leaves the
// field out.
func inheritedDefects() []Defect {
	var defects []Defect
	for _, field := range []string{"delivery_mode", "description", "schedule", "campaign_id", "test_code", "tags", "text_only", "timestamp_next_run"} {
		for _, operation := range testViews[:2] {
			defects = append(defects, breaking("STATE-CREATE-"+strings.ToUpper(field), operation, "created-"+field+"-inherited",
				"shows the "+field+" of the creation before for a newly created test without one",
				func(next Handler) Handler {
					var mu sync.Mutex
					var last any
					inherited := map[string]any{} // by the id of the test
					note := func(next Handler) Handler {
						return func(r Request) (Response, error) {
							answer, err := next(r)
							if sent, ok := objectIn(r); ok && r.Operation == spec.CreatePlacementTest && err == nil && answer.Status == http.StatusOK {
								mu.Lock()
								defer mu.Unlock()
								value, given := sent[field]
								if !given && last != nil {
									inherited[textIn(answer, "id")] = last
								}
								last = value
							}
							return answer, err
						}
					}
					show := onRows(operation, func(_ Request, rows []map[string]any) {
						mu.Lock()
						defer mu.Unlock()
						for _, row := range rows {
							if value, ok := inherited[textOf(row, "id")]; ok {
								row[field] = value
							}
						}
					})
					return Chain(show, note)(next)
				}))
		}
	}
	return defects
}

// unseenDefects hide, in one view, every test with the field. With a required
// field that would be every test.
func unseenDefects(requirement, field string) []Defect {
	return []Defect{
		breaking(requirement, spec.GetPlacementTest, "not-found-with-"+field,
			"does not find a test created with "+field, func(next Handler) Handler {
				made := &creations{}
				sent := func(r Request) bool { return made.sent(r.ID, field) != nil }
				return Chain(where(spec.GetPlacementTest, sent, refusing(http.StatusNotFound)), made.watch)(next)
			}),
		breaking(requirement, spec.ListPlacementTests, "not-listed-with-"+field,
			"does not list a test created with "+field, func(next Handler) Handler {
				made := &creations{}
				hide := withoutRows(spec.ListPlacementTests, func(_ Request, row map[string]any) bool {
					return made.sent(textOf(row, "id"), field) != nil
				})
				return Chain(hide, made.watch)(next)
			}),
	}
}

// acceptDefects refuse valid bodies, or answer them without storing anything.
func acceptDefects() []Defect {
	var defects []Defect
	creating := func(requirement, damage, doc string, fits func(body map[string]any) bool, b behaviour) {
		defects = append(defects, breaking(requirement, spec.CreatePlacementTest, damage, doc,
			where(spec.CreatePlacementTest, func(r Request) bool {
				body, ok := objectIn(r)
				return ok && fits(body)
			}, b)))
	}
	for _, value := range []bool{true, false} {
		word := "run-immediately-" + strconv.FormatBool(value)
		fits := func(body map[string]any) bool { return body["run_immediately"] == value }
		creating("STATE-CREATE-RUN_IMMEDIATELY", word+"-refused", "refuses a body whose run_immediately is "+strconv.FormatBool(value), fits,
			refusing(http.StatusBadRequest))
		creating("STATE-CREATE-RUN_IMMEDIATELY", word+"-not-stored",
			"answers with a test that it does not store when run_immediately is "+strconv.FormatBool(value), fits, createInPassing)
	}
	isNull := func(field string) func(map[string]any) bool {
		return func(body map[string]any) bool {
			value, sent := body[field]
			return sent && value == nil
		}
	}
	for _, field := range nullableTestFields() {
		creating("STATE-CREATE-NULL", field+"-null-refused", "refuses null for "+field, isNull(field), refusing(http.StatusBadRequest))
	}
	description := isNull("description")
	creating("STATE-CREATE-NULL", "null-breaks", "returns 500 for a null description", description, refusing(http.StatusInternalServerError))
	creating("STATE-CREATE-NULL", "null-not-stored", "answers with a test that it does not store when description is null", description,
		createInPassing)
	return defects
}

// nullableTestFields returns the optional fields that may be null.
func nullableTestFields() []string {
	var names []string
	for _, f := range spec.Fields() {
		if f.Resource == "InboxPlacementTest" && strings.HasSuffix(f.Type, " or null") && slices.Contains(spec.CreateOptional, f.Path) {
			names = append(names, f.Path)
		}
	}
	return names
}

// twinDefects create fewer than two tests from the same body sent twice.
func twinDefects() []Defect {
	twin := func(damage, doc string, again func(next Handler, r Request, before Response) (Response, error)) Defect {
		return breaking("STATE-CREATE-DISTINCT", spec.CreatePlacementTest, damage, doc, func(next Handler) Handler {
			var mu sync.Mutex
			answers := map[string]Response{}
			return where(spec.CreatePlacementTest, anyRequest, func(next Handler, r Request) (Response, error) {
				mu.Lock()
				defer mu.Unlock()
				if before, ok := answers[string(r.Body)]; ok {
					return again(next, r, before)
				}
				answer, err := next(r)
				if err == nil && answer.Status == http.StatusOK {
					answers[string(r.Body)] = answer
				}
				return answer, err
			})(next)
		})
	}
	return []Defect{
		breaking("STATE-CREATE-DISTINCT", spec.CreatePlacementTest, "run-immediately-twice", "creates two tests if one is to run at once",
			where(spec.CreatePlacementTest, anyRequest, func(next Handler, r Request) (Response, error) {
				if body, ok := objectIn(r); ok && body["run_immediately"] == true {
					if answer, err := next(r); err != nil || answer.Status != http.StatusOK {
						return answer, err
					}
				}
				return next(r)
			})),
		twin("twin-same", "answers a repeated body with the first test",
			func(_ Handler, _ Request, before Response) (Response, error) { return before, nil }),
		twin("twin-not-stored", "answers a repeated body with a test that it does not store",
			func(next Handler, r Request, _ Response) (Response, error) { return createInPassing(next, r) }),
		twin("twin-replaces", "deletes a test when the same body is sent again",
			func(next Handler, r Request, before Response) (Response, error) {
				if answer, err := next(r.redirected(spec.DeletePlacementTest, textIn(before, "id"))); err != nil {
					return answer, err
				}
				return next(r)
			}),
	}
}

// readOnlyDefects show, in one view, the body's value of a read-only field.
func readOnlyDefects() []Defect {
	var defects []Defect
	for _, field := range spec.CreateReadOnly {
		strip := onRequest(spec.CreatePlacementTest, func(r Request) Request {
			if body, ok := objectIn(r); ok {
				delete(body, field)
				r.Body = encode(body)
			}
			return r
		})
		for _, view := range []struct{ operation, word string }{
			{spec.CreatePlacementTest, "the answer"}, {spec.GetPlacementTest, "a get"}, {spec.ListPlacementTests, "the list"},
		} {
			take := onCreated(view.operation, field, func(row map[string]any, sent any) { row[field] = sent })
			defects = append(defects, breaking("STATE-READ_ONLY-"+strings.ToUpper(field), spec.CreatePlacementTest,
				field+"-taken-in-"+strings.Fields(view.word)[1], "accepts "+field+" from a body and shows it in "+view.word, Chain(take, strip)))
		}
	}
	return append(defects, breakingWith("STATE-READ_ONLY-ORGANIZATION_ID", spec.CreatePlacementTest, "organization_id-taken-if-known",
		"accepts the id of another workspace from a body", func(a *Target) Middleware {
			return onCreated(spec.CreatePlacementTest, "organization_id", func(row map[string]any, sent any) {
				for _, w := range a.Profile.Workspaces {
					if w.ID == sent {
						row["organization_id"] = sent
					}
				}
			})
		}))
}

// likenessDefects show a test differently in a get and in the list.
func likenessDefects() []Defect {
	const requirement, get = "STATE-GET-LIST", spec.GetPlacementTest
	differs := func(field string, d damage) Defect {
		return breaking(requirement, get, field+"-unlike-list", "shows "+field+" in a get "+d.doc,
			onRows(get, func(_ Request, rows []map[string]any) {
				for _, row := range rows {
					d.apply(row, field)
				}
			}))
	}
	var defects []Defect
	for _, field := range testFields {
		defects = append(defects, differs(field.name, field.damages[0]))
	}
	return append(defects,
		breaking(requirement, get, "created-another-time", "shows in the response to a creation that the test was created one hour later",
			onRows(spec.CreatePlacementTest, func(_ Request, rows []map[string]any) {
				for _, row := range rows {
					hourLater.apply(row, "timestamp_created")
				}
			})),
		differs("id", otherID),
		differs("recipients", firstTwice),
		differs("timestamp_created", hourLater),
		breaking(requirement, get, "half-unlike-list", "shows the name of every other test in a get without its last character",
			onRows(get, func(_ Request, rows []map[string]any) {
				for _, row := range rows {
					if id := textOf(row, "id"); id != "" && id[len(id)-1]%2 == 0 {
						cutShort.apply(row, "name")
					}
				}
			})),
		breaking(requirement, get, "list-unlike-created", "shows the name of a newly created test without its last character in the list",
			onCreated(spec.ListPlacementTests, "name", func(row map[string]any, _ any) { cutShort.apply(row, "name") })),
	)
}

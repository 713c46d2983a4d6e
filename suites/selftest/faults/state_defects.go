package faults

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/spec"
)

// stateDefects show written data differently from what was written.
func stateDefects() []Defect {
	return slices.Concat(
		storedDefects(),
		togetherDefects(),
		inheritedDefects(),
		acceptDefects(),
		twinDefects(),
		readOnlyDefects(),
		likenessDefects(),
		deleteDefects(),
		moveToDeletedDefects(),
		metadataDefects(),
		metadataElsewhereDefects(),
		variablesDefects(),
		leadDefects(),
		accountDefects(),
		otherRowDefects(),
	)
}

// stubborn repeats the answer to the operation's first request.
func stubborn(operation string) Middleware {
	return func(next Handler) Handler {
		var mu sync.Mutex
		var first *Response
		return where(operation, anyRequest, func(next Handler, r Request) (Response, error) {
			mu.Lock()
			defer mu.Unlock()
			if first != nil {
				return *first, nil
			}
			answer, err := next(r)
			if err == nil && answer.Status == http.StatusOK {
				first = &answer
			}
			return answer, err
		})(next)
	}
}

// inAnswer damages a field of the resource in the operation's answers to
// matching requests.
func inAnswer(operation, field string, d damage, fits func(body map[string]any) bool) Middleware {
	return onRows(operation, func(r Request, rows []map[string]any) {
		if body, _ := objectIn(r); fits(body) {
			for _, row := range rows {
				d.apply(row, field)
			}
		}
	})
}

// anyRequest matches all requests of an operation.
func anyRequest(Request) bool { return true }

func anyBody(map[string]any) bool { return true }

// besides returns the id after another in a list, or the same id if it is the
// only one.
func besides(ids []string, id string) string {
	i := slices.Index(ids, id)
	if len(ids) == 0 {
		return id
	}
	return ids[(i+1)%len(ids)]
}

// variablesDefects answer with another campaign than the named one.
func variablesDefects() []Defect {
	const requirement, operation = "VARIABLES-CAMPAIGN", spec.AddCampaignVariables
	several := func(body map[string]any) bool {
		variables, _ := body["variables"].([]any)
		return len(variables) > 1
	}
	return []Defect{
		breakingWith(requirement, operation, "to-another-campaign", "adds the variables to another campaign", func(a *Target) Middleware {
			return onRequest(operation, func(r Request) Request {
				return r.naming(besides(a.Profile.Workspaces[dataset.Main].Campaigns, r.ID))
			})
		}),
		breaking(requirement, operation, "renames", "adds to the name of the campaign with each request", func(next Handler) Handler {
			var requests atomic.Int64
			return onRows(operation, func(_ Request, rows []map[string]any) {
				for _, row := range rows {
					row["name"] = fmt.Sprint(row["name"], " ", requests.Add(1))
				}
			})(next)
		}),
		breaking(requirement, operation, "creates-again", "shows the time of the request as that of the creation", func(next Handler) Handler {
			var requests atomic.Int64
			return onRows(operation, func(_ Request, rows []map[string]any) {
				for _, row := range rows {
					row["timestamp_created"] = time.Date(2026, 1, 1, 0, 0, int(requests.Add(1)), 0, time.UTC).Format("2006-01-02T15:04:05.000Z")
				}
			})(next)
		}),
		breaking(requirement, operation, "answers-first-campaign", "answers with the first campaign that it changed", stubborn(operation)),
		breaking(requirement, operation, "answers-another-id", "answers with the campaign under a different id",
			inAnswer(operation, "id", otherID, anyBody)),
		breaking(requirement, operation, "several-answer-another-id",
			"answers with the campaign under a different id when several variables are added",
			inAnswer(operation, "id", otherID, several)),
		breaking(requirement, operation, "one-answers-another-id", "answers with the campaign under a different id when one variable is added",
			inAnswer(operation, "id", otherID, func(body map[string]any) bool { return !several(body) })),
	}
}

// leadDefects move another lead than the named one, or move it to the wrong
// place.
func leadDefects() []Defect {
	const operation = spec.MoveLead
	lead := func(damage, doc string, apply func(*Target) Middleware) Defect {
		return breakingWith("LEAD-MOVE-LEAD", operation, damage, doc, apply)
	}
	subsequence := func(damage, doc string, t Middleware) Defect {
		return breaking("LEAD-MOVE-SUBSEQUENCE", operation, damage, doc, t)
	}
	return []Defect{
		lead("moves-another-lead", "moves another lead", func(a *Target) Middleware {
			return onRequest(operation, func(r Request) Request {
				if body, ok := objectIn(r); ok {
					body["id"] = besides(a.Profile.Workspaces[dataset.Main].Leads, textOf(body, "id"))
					r.Body = encode(body)
				}
				return r
			})
		}),
		lead("answers-first-lead", "answers with the first lead that it moved", func(*Target) Middleware { return stubborn(operation) }),
		lead("answers-another-lead-id", "answers with the lead under a different id",
			func(*Target) Middleware { return inAnswer(operation, "id", otherID, anyBody) }),
		subsequence("answers-first-subsequence", "answers with a lead as it was after its first move", stubborn(operation)),
		subsequence("subsequence-other-id", "answers with a different subsequence_id", inAnswer(operation, "subsequence_id", otherID, anyBody)),
		subsequence("subsequence-left-out", "answers without subsequence_id", inAnswer(operation, "subsequence_id", lost, anyBody)),
		subsequence("answers-as-before", "answers with the lead as it was before the move", asBefore()),
	}
}

// asBefore shows a moved lead in the subsequence of its previous move.
func asBefore() Middleware {
	return func(next Handler) Handler {
		var mu sync.Mutex
		before := map[string]any{} // subsequence by lead
		return onRows(spec.MoveLead, func(_ Request, rows []map[string]any) {
			mu.Lock()
			defer mu.Unlock()
			for _, row := range rows {
				id, now := textOf(row, "id"), row["subsequence_id"]
				if row["subsequence_id"] = before[id]; before[id] == nil {
					delete(row, "subsequence_id")
				}
				before[id] = now
			}
		})(next)
	}
}

// accountDefects report success for a move that is incomplete. They leave every
// account where it can be found.
func accountDefects() []Defect {
	const operation = spec.MoveAccounts
	some := func(damage, who string, of func(emails []any) []any) Defect {
		return breaking("ACCOUNTS-MOVED", operation, damage, "moves only "+who+" of several accounts",
			onRequest(operation, func(r Request) Request {
				body, _ := objectIn(r)
				if emails, ok := body["emails"].([]any); ok && len(emails) > 1 {
					body["emails"] = of(emails)
					r.Body = encode(body)
				}
				return r
			}))
	}
	return []Defect{
		breakingWith("ACCOUNTS-MOVED", operation, "stays-home", "reports success for the first move of an account without moving it", staysHome),
		breakingWith("ACCOUNTS-MOVED", operation, "moves-once", "refuses to move an account twice", movesOnce),
		some("moves-first-only", "the first", func(emails []any) []any { return emails[:1] }),
		some("moves-all-but-last", "all but the last", func(emails []any) []any { return emails[:len(emails)-1] }),
	}
}

// staysHome moves nothing out of a workspace where the profile lists it.
func staysHome(a *Target) Middleware {
	return where(spec.MoveAccounts, func(r Request) bool {
		m := a.moveIn(r)
		for _, w := range a.Profile.Workspaces {
			if w.ID == m.source && slices.ContainsFunc(w.Accounts, func(email string) bool { return slices.Contains(m.emails, any(email)) }) {
				return true
			}
		}
		return false
	}, moved)
}

// movesOnce refuses the second move of an account. It skips the first one too,
// which is invisible and could not be rolled back.
func movesOnce(a *Target) Middleware {
	return func(next Handler) Handler {
		var mu sync.Mutex
		seen := map[any]bool{}
		return where(spec.MoveAccounts, anyRequest, func(next Handler, r Request) (Response, error) {
			mu.Lock()
			defer mu.Unlock()
			emails := a.moveIn(r).emails
			if slices.ContainsFunc(emails, func(email any) bool { return seen[email] }) {
				return refusal(http.StatusConflict), nil
			}
			for _, email := range emails {
				seen[email] = true
			}
			return moved(next, r)
		})(next)
	}
}

// withMetadata is the query parameter that requests metadata.
const withMetadata = "with_metadata"

// asksMetadata matches requests with that value of the parameter; "" means
// none.
func asksMetadata(value string) func(Request) bool {
	return func(r Request) bool {
		return r.Query.Get(withMetadata) == value && r.Query.Has(withMetadata) == (value != "")
	}
}

func hasCampaign(row map[string]any) bool { return row["campaign_id"] != nil }

func hasNoCampaign(row map[string]any) bool { return row["campaign_id"] == nil }

func addMetadata(row map[string]any) { row["metadata"] = map[string]any{"tags": []any{}} }

func dropMetadata(row map[string]any) { delete(row, "metadata") }

// metadataDefects show metadata in a get that did not request it, or omit it in
// one that did.
func metadataDefects() []Defect {
	const get = spec.GetPlacementTest
	var defects []Defect
	for _, t := range []struct{ requirement, damage, doc, asked, taken string }{
		{"META-TRUE", "metadata-never", "ignores with_metadata", "true", ""},
		{"META-TRUE", "metadata-inverted", "treats with_metadata=true as false", "true", "false"},
		{"META-FALSE", "metadata-at-any-word", "treats with_metadata=false as true", "false", "true"},
		{"META-ABSENT", "metadata-by-default", "shows metadata without being asked", "", "true"},
	} {
		defects = append(defects, breaking(t.requirement, get, t.damage, t.doc,
			where(get, asksMetadata(t.asked), func(next Handler, r Request) (Response, error) {
				r = r.clone()
				r.Query.Del(withMetadata)
				if t.taken != "" {
					r.Query.Set(withMetadata, t.taken)
				}
				return next(r)
			})))
	}
	for _, t := range []struct {
		requirement, damage, doc, asked string
		fits                            func(row map[string]any) bool
		change                          func(row map[string]any)
	}{
		{"META-TRUE", "no-metadata-with-campaign", "shows no metadata of tests with a campaign", "true", hasCampaign, dropMetadata},
		{"META-TRUE", "no-metadata-without-campaign", "shows no metadata of tests without a campaign", "true", hasNoCampaign, dropMetadata},
		{"META-FALSE", "metadata-with-campaign", "shows metadata of tests with a campaign despite with_metadata=false", "false", hasCampaign,
			addMetadata},
		{"META-FALSE", "metadata-without-campaign", "shows metadata of tests without a campaign despite with_metadata=false", "false",
			hasNoCampaign, addMetadata},
		{"META-ABSENT", "unasked-metadata-with-campaign", "shows metadata of tests with a campaign without being asked", "", hasCampaign,
			addMetadata},
		{"META-ABSENT", "unasked-metadata-without-campaign", "shows metadata of tests without a campaign without being asked", "", hasNoCampaign,
			addMetadata},
	} {
		defects = append(defects, breaking(t.requirement, get, t.damage, t.doc, onRows(get, func(r Request, rows []map[string]any) {
			for _, row := range rows {
				if asksMetadata(t.asked)(r) && t.fits(row) {
					t.change(row)
				}
			}
		})))
	}
	return defects
}

// metadataElsewhereDefects show metadata in answers that never have it.
func metadataElsewhereDefects() []Defect {
	var defects []Defect
	shows := func(operation, damage, which string, of rowChoice) {
		defects = append(defects, breaking("META-ELSEWHERE", operation, damage, "shows metadata of "+which,
			onRows(operation, func(_ Request, rows []map[string]any) {
				for _, row := range of(rows) {
					addMetadata(row)
				}
			})))
	}
	for _, operation := range []string{spec.CreatePlacementTest, spec.ListPlacementTests, spec.DeletePlacementTest} {
		shows(operation, "metadata-everywhere", "every test", eachRow)
		for _, some := range []struct {
			word string
			fits func(map[string]any) bool
		}{{"with", hasCampaign}, {"without", hasNoCampaign}} {
			shows(operation, "metadata-"+some.word+"-campaign", "tests "+some.word+" a campaign",
				func(rows []map[string]any) []map[string]any { return keepRows(rows, some.fits) })
		}
	}
	shows(spec.ListPlacementTests, "metadata-in-last-row", "the last test of a page", finalRow)
	return defects
}

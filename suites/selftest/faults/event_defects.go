package faults

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"outreach.example/conformance/spec"
)

// eventDefects break the rules between fields of rows (section Events), and
// dates that repeat a timestamp.
func eventDefects() []Defect {
	var defects []Defect
	for _, operation := range []string{spec.ListPlacementReports, spec.ListWebhookEvents} {
		defects = append(defects, dateDefects(operation)...)
	}
	for _, e := range attemptDamages {
		every := spoil(spec.ListWebhookEvents, eachRow, e.fits, e.change)
		defects = append(defects, breaking(e.requirement, spec.ListWebhookEvents, e.damage, e.doc, every))
		if e.single {
			last := spoil(spec.ListWebhookEvents, finalRow, e.fits, e.change)
			defects = append(defects, breaking(e.requirement, spec.ListWebhookEvents, "last-"+e.damage,
				e.doc+", in the last matching row of a page", last))
		}
	}
	return defects
}

// rowChoice selects the rows to damage from those that match.
type rowChoice func(rows []map[string]any) []map[string]any

func eachRow(rows []map[string]any) []map[string]any { return rows }

func finalRow(rows []map[string]any) []map[string]any { return rows[max(0, len(rows)-1):] }

// keepRows returns the matching rows.
func keepRows(rows []map[string]any, fits func(map[string]any) bool) []map[string]any {
	var kept []map[string]any
	for _, row := range rows {
		if fits(row) {
			kept = append(kept, row)
		}
	}
	return kept
}

// spoil changes the selected ones of the matching rows.
func spoil(operation string, choose rowChoice, fits func(map[string]any) bool, change func(map[string]any)) Middleware {
	return onRows(operation, func(_ Request, rows []map[string]any) {
		for _, row := range choose(keepRows(rows, fits)) {
			change(row)
		}
	})
}

// dateDefects show a day other than that of the timestamp.
func dateDefects(operation string) []Defect {
	const requirement = "DATE-OF-TIMESTAMP"
	var defects []Defect
	for _, t := range []struct {
		damage, doc string
		choose      rowChoice
		offset      time.Duration
	}{
		{"date-day-before", "shows the day before timestamp_created", eachRow, -24 * time.Hour},
		{"date-day-after-in-last-row", "shows the day after timestamp_created in the last row of a page", finalRow, 24 * time.Hour},
		{"date-in-tokyo", "shows the day of timestamp_created in a time zone nine hours ahead", eachRow, 9 * time.Hour},
		{"date-in-los-angeles", "shows the day of timestamp_created in a time zone eight hours behind", eachRow, -8 * time.Hour},
		{"date-rounded", "rounds timestamp_created to the nearest day", eachRow, 12 * time.Hour},
	} {
		defects = append(defects, breaking(requirement, operation, t.damage, t.doc,
			spoil(operation, t.choose, hasCreation, func(row map[string]any) {
				created, _ := momentOf(row, "timestamp_created")
				row["timestamp_created_date"] = created.Add(t.offset).Format(time.DateOnly)
			})))
	}
	return defects
}

func hasCreation(row map[string]any) bool {
	_, ok := momentOf(row, "timestamp_created")
	return ok
}

// momentOf parses a timestamp in UTC.
func momentOf(row map[string]any, field string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339Nano, textOf(row, field))
	return t.UTC(), err == nil
}

// retries returns the number of attempts before the row's.
func retries(row map[string]any) int64 {
	n, _ := row["retry_count"].(json.Number)
	count, _ := n.Int64()
	return count
}

func succeeded(row map[string]any) bool { return row["success"] == true }

func failed(row map[string]any) bool { return row["success"] == false }

func willRetry(row map[string]any) bool { return failed(row) && row["will_retry"] == true }

func isRetry(row map[string]any) bool { return retries(row) > 0 }

// allOf matches rows that match every condition.
func allOf(fits ...func(row map[string]any) bool) func(map[string]any) bool {
	return func(row map[string]any) bool {
		return !slices.ContainsFunc(fits, func(fit func(map[string]any) bool) bool { return !fit(row) })
	}
}

// shows matches rows that show the value.
func shows(field string, value any) func(map[string]any) bool {
	return func(row map[string]any) bool { return row[field] == value }
}

// put sets the field to the value.
func put(field string, value any) func(map[string]any) {
	return func(row map[string]any) { row[field] = value }
}

// leaveOut removes the field.
func leaveOut(field string) func(map[string]any) {
	return func(row map[string]any) { delete(row, field) }
}

// nextRetryAt sets the next attempt relative to the row's own.
func nextRetryAt(after time.Duration) func(map[string]any) {
	return func(row map[string]any) {
		created, _ := momentOf(row, "timestamp_created")
		row["timestamp_next_retry"] = created.Add(after).Format("2006-01-02T15:04:05.000Z")
	}
}

// mostRetries exceeds the retries of any delivery.
const mostRetries = 1000

func counting(count func(int64) int64) func(map[string]any) {
	return func(row map[string]any) { row["retry_count"] = json.Number(fmt.Sprint(count(retries(row)))) }
}

// attemptDamages break the rules for delivery attempts.
var attemptDamages = []struct {
	requirement, damage, doc string
	fits                     func(row map[string]any) bool
	change                   func(row map[string]any)
	single                   bool // the last row of a page that it fits suffices
}{
	{"EVENT-FAILED-WILL_RETRY", "will-retry-left-out", "omits will_retry of a failed attempt", failed, leaveOut("will_retry"), true},
	{"EVENT-FAILED-RETRY_COUNT", "retry-count-left-out", "omits retry_count of a failed attempt", failed, leaveOut("retry_count"), true},
	{"EVENT-FAILED-RETRY_GROUP_ID", "retry-group-left-out", "omits retry_group_id of a failed attempt", failed, leaveOut("retry_group_id"), true},

	{"EVENT-NEXT-RETRY", "next-retry-left-out", "omits the time of the next retry", willRetry,
		leaveOut("timestamp_next_retry"), true},
	{"EVENT-NEXT-RETRY", "next-retry-in-the-past", "schedules the next attempt a minute before the failed one", willRetry,
		nextRetryAt(-time.Minute), true},
	{"EVENT-NEXT-RETRY", "next-retry-just-before", "schedules the next attempt a millisecond before the failed one", willRetry,
		nextRetryAt(-time.Millisecond), true},
	{"EVENT-NEXT-RETRY", "second-retry-left-out", "omits the time of the second retry", allOf(willRetry, isRetry),
		leaveOut("timestamp_next_retry"), true},

	{"EVENT-GROUP-COUNT", "retries-count-down", "counts the remaining retries", allFit,
		counting(func(n int64) int64 { return mostRetries - n }), false},
	{"EVENT-GROUP-COUNT", "retries-not-counted", "shows a retry count of 0 in every retry", isRetry, put("retry_count", json.Number("0")), false},
	{"EVENT-GROUP-COUNT", "first-attempt-counted-late", "shows a high retry count in the first attempt",
		allOf(willRetry, shows("retry_count", json.Number("0"))), put("retry_count", json.Number("99")), true},
	{"EVENT-GROUP-COUNT", "second-retry-count-reset", "resets the retry count after the first retry",
		func(row map[string]any) bool { return retries(row) > 1 }, put("retry_count", json.Number("0")), true},

	{"EVENT-RETRY-TRUE", "failure-called-success", "reports a successful retry although none succeeded",
		allOf(failed, shows("retry_successful", false)), put("retry_successful", true), true},
	{"EVENT-RETRY-TRUE", "given-up-called-success", "reports a successful retry although the last attempt failed",
		allOf(failed, shows("will_retry", false)), put("retry_successful", true), true},
	{"EVENT-RETRY-TRUE", "success-said-again", "reports a later successful retry for a successful attempt", succeeded,
		put("retry_successful", true), true},

	{"EVENT-RETRY-FALSE", "success-denied", "reports no successful retry although one succeeded",
		allOf(failed, shows("retry_successful", true)), put("retry_successful", false), true},
	{"EVENT-RETRY-FALSE", "success-denied-in-first", "reports no successful retry in the first attempt although one succeeded",
		allOf(failed, shows("retry_count", json.Number("0")), shows("retry_successful", true)), put("retry_successful", false), true},
}

func allFit(map[string]any) bool { return true }

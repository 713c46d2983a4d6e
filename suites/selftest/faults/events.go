package faults

import (
	"encoding/json"
	"fmt"
	"time"

	"outreach.example/conformance/spec"
)

// eventDefects break the rules between fields of rows (section Events), and dates that repeat
// a timestamp.
func eventDefects() []Defect {
	type fields = map[string]any
	shown := func(want fields) func(row fields) bool {
		return func(row fields) bool {
			for field, value := range want {
				if row[field] != value {
					return false
				}
			}
			return true
		}
	}
	each := func(want fields) choice { return thatFit(eachRow, shown(want)) }
	last := func(want fields) choice { return thatFit(lastRow, shown(want)) }
	retried := func(times int) choice {
		return thatFit(eachRow, func(row fields) bool { return retries(row) >= times })
	}
	give := func(field string, v any) func(fields) { return func(row fields) { setMember(row, field)(v) } }
	day := func(offset time.Duration) func(fields) {
		return func(row fields) {
			if created, ok := createdAt(row); ok {
				row["timestamp_created_date"] = created.Add(offset).Format(time.DateOnly)
			}
		}
	}
	soon := func(row fields) {
		created, _ := createdAt(row)
		row["timestamp_next_retry"] = written(created.Add(-time.Millisecond))
	}
	countDown := func(row fields) { row["retry_count"] = json.Number(fmt.Sprint(1000 - retries(row))) }
	zero := json.Number("0")

	var defects []Defect
	for _, e := range []struct {
		breaks    spec.ID
		id, words string
		choose    choice
		change    func(row fields)
	}{
		{spec.DateOfTimestamp, "date-day-before", "shows the day before timestamp_created", eachRow, day(-24 * time.Hour)},
		{spec.DateOfTimestamp, "date-day-after-in-last-row", "shows the day after timestamp_created in the last row of a page", lastRow, day(24 * time.Hour)},
		{spec.DateOfTimestamp, "date-in-tokyo", "shows the day of timestamp_created in a time zone nine hours ahead", eachRow, day(9 * time.Hour)},
		{spec.DateOfTimestamp, "date-in-los-angeles", "shows the day of timestamp_created in a time zone eight hours behind", eachRow, day(-8 * time.Hour)},

		{spec.EventNextRetry, "next-retry-left-out", "omits the time of the next retry", each(fields{"success": false, "will_retry": true}), give("timestamp_next_retry", removed{})},
		{spec.EventNextRetry, "last-next-retry-just-before", "schedules the next attempt a millisecond before the last failed one of a page", last(fields{"success": false, "will_retry": true}), soon},
		{spec.EventNextRetry, "second-retry-left-out", "omits the time of the second retry", each(fields{"will_retry": true, "retry_count": json.Number("1")}), give("timestamp_next_retry", removed{})},

		{spec.EventGroupCount, "retries-count-down", "counts the remaining retries", eachRow, countDown},
		{spec.EventGroupCount, "retries-not-counted", "shows a retry count of 0 in every retry", retried(1), give("retry_count", zero)},
		{spec.EventGroupCount, "second-retry-count-reset", "resets the retry count after the first retry", retried(2), give("retry_count", zero)},
		{spec.EventGroupCount, "first-attempt-counted-late", "shows a high retry count in the last first attempt of a page", last(fields{"will_retry": true, "retry_count": zero}), give("retry_count", json.Number("99"))},

		{spec.EventRetryTrue, "failure-called-success", "reports a successful retry although none succeeded", each(fields{"success": false, "retry_successful": false}), give("retry_successful", true)},
		{spec.EventRetryTrue, "given-up-called-success", "reports a successful retry although the last attempt failed", last(fields{"success": false, "will_retry": false}), give("retry_successful", true)},
		{spec.EventRetryTrue, "success-said-again", "reports a later successful retry for a successful attempt", each(fields{"success": true}), give("retry_successful", true)},

		{spec.EventRetryFalse, "success-denied", "reports no successful retry although one succeeded", each(fields{"success": false, "retry_successful": true}), give("retry_successful", false)},
		{spec.EventRetryFalse, "last-success-denied", "reports no successful retry in the last first attempt of a page", last(fields{"success": false, "retry_count": zero, "retry_successful": true}), give("retry_successful", false)},
	} {
		defects = append(defects, onEach(e.breaks, e.id, e.words, when(always, rows(e.choose, func(_ *exchange, row fields) { e.change(row) })))...)
	}
	for _, field := range spec.RetryFields {
		omit := func(_ *exchange, row fields) { delete(row, field) }
		defects = append(defects, onEach(spec.EventFailed(field), field+"-left-out", "omits "+field+" of a failed attempt", when(always, rows(each(fields{"success": false}), omit)))...)
		defects = append(defects, onEach(spec.EventFailed(field), "last-"+field+"-left-out", "omits "+field+" of the last failed attempt of a page", when(always, rows(last(fields{"success": false}), omit)))...)
	}
	return defects
}

// createdAt returns the time of a row in UTC.
func createdAt(row map[string]any) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339Nano, textOf(row, "timestamp_created"))
	return t.UTC(), err == nil
}

// retries returns the number of attempts before the row's.
func retries(row map[string]any) int {
	n, _ := row["retry_count"].(json.Number)
	count, _ := n.Int64()
	return int(count)
}

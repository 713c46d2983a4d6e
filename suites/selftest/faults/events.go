package faults

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"outreach.example/conformance/spec"
)

// eventDefects break the rules between fields of rows (section Events), and dates that repeat
// a timestamp.
func eventDefects() []Defect {
	give := func(choose choice, shown fields, field string, v any) verb {
		fits := func(row fields) bool {
			for field, value := range shown {
				if row[field] != value {
					return false
				}
			}
			return true
		}
		return rows(thatFit(choose, fits), func(_ *exchange, row fields) { setMember(row, field)(v) })
	}
	day := func(choose choice, offset time.Duration) verb {
		return rows(choose, func(_ *exchange, row fields) {
			row["timestamp_created_date"] = createdAt(row).Add(offset).Format(time.DateOnly)
		})
	}
	planned := fields{"success": false, "will_retry": true}
	const next, count, retried = "timestamp_next_retry", "retry_count", "retry_successful"
	zero := json.Number("0")

	tables := mistakes{
		spec.DateOfTimestamp: {
			{"shows the day after timestamp_created in the last row of a page", always, day(lastRow, 24*time.Hour)},
			{"shows the day of timestamp_created in Tokyo", always, day(eachRow, 9*time.Hour)},
		},
		spec.EventNextRetry: {
			{"omits the time of the next retry", always, give(eachRow, planned, next, removed{})},
			{"omits the time of the second retry", always, give(eachRow, fields{"will_retry": true, count: json.Number("1")}, next, removed{})},
			{"schedules the next attempt a millisecond before the last failed one of a page", always, rows(thatFit(lastRow, func(row fields) bool { return row["will_retry"] == true }), func(_ *exchange, row fields) {
				row[next] = written(createdAt(row).Add(-time.Millisecond))
			})},
		},
		spec.EventGroupCount: {
			{"counts the remaining retries", always, rows(eachRow, func(_ *exchange, row fields) {
				n, _ := strconv.Atoi(fmt.Sprint(row[count]))
				row[count] = json.Number(strconv.Itoa(1000 - n))
			})},
			{"shows a retry count of 0 in every second retry", always, give(eachRow, fields{count: json.Number("2")}, count, zero)},
			{"shows a high retry count in the last first attempt of a page", always, give(lastRow, fields{"will_retry": true, count: zero}, count, json.Number("99"))},
		},
		spec.EventRetryTrue: {
			{"reports a successful retry although none succeeded", always, give(eachRow, fields{"success": false, retried: false}, retried, true)},
			{"reports a successful retry although the last attempt failed", always, give(lastRow, fields{"success": false, "will_retry": false}, retried, true)},
		},
		spec.EventRetryFalse: {
			{"reports no successful retry although one succeeded", always, give(eachRow, fields{"success": false, retried: true}, retried, false)},
			{"reports no successful retry in the last first attempt of a page", always, give(lastRow, fields{"success": false, count: zero, retried: true}, retried, false)},
		},
	}
	for _, field := range spec.RetryFields {
		tables[spec.EventFailed(field)] = []mistake{{"omits " + field + " of the last failed attempt of a page", always, give(lastRow, fields{"success": false}, field, removed{})}}
	}
	return tables.on("")
}

// createdAt returns the time of a row in UTC.
func createdAt(row fields) time.Time {
	t, _ := time.Parse(time.RFC3339Nano, textOf(row, "timestamp_created")) // the target shows one
	return t.UTC()
}

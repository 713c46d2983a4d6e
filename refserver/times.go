package refserver

import "time"

// The forms in which the service writes and reads times (specification, section
// Resources): UTC with milliseconds. Written so, times sort like text.
const (
	timestampForm = "2006-01-02T15:04:05.000Z"
	dateForm      = "2006-01-02"
)

// stamp writes a time as a timestamp.
func stamp(t time.Time) string { return t.UTC().Format(timestampForm) }

// parseTimestamp reads an ISO 8601 timestamp with any offset and precision.
func parseTimestamp(text string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339Nano, text)
	return t.UTC(), err == nil && t.UTC().Year() >= 0 && t.UTC().Year() <= 9999
}

// parseDate reads YYYY-MM-DD as the start of that day in UTC.
func parseDate(text string) (time.Time, bool) {
	t, err := time.Parse(dateForm, text)
	return t, err == nil
}

// endOfDay is the last millisecond of the day that starts at t.
func endOfDay(t time.Time) time.Time { return t.Add(24*time.Hour - time.Millisecond) }

package owned

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"outreach.example/conformance/internal/paging"
)

// drawn is the form of the texts that runs draw for the names and the subjects of tests. They
// end with the id of the run.
var drawn = regexp.MustCompile(`^(?:placement check )?(conformance.{0,200}?([0-9a-f]{32}))$`)

// Word returns such a text, a single word. Words of a run differ if their numbers do.
func Word(run string, n uint64) string {
	return Name("conformance"+fmt.Sprintf("%012x", n&(1<<48-1)), run)
}

// Name returns the text that begins as given, with "conformance", and ends with the run's id.
func Name(begins, run string) string { return begins + strings.ReplaceAll(run, "-", "") }

// drawnIn returns the drawn text in a name or a subject; empty if it has another form. A
// target may change the letter case and outer blanks.
func drawnIn(value any) string {
	text, _ := value.(string)
	if found := drawn.FindStringSubmatch(strings.ToLower(strings.TrimSpace(text))); found != nil {
		return found[1]
	}
	return ""
}

// RunIn returns the id of the run, without dashes, in a name that it has drawn; empty if it
// has another form.
func RunIn(name string) string { return drawnIn(name)[max(0, len(drawnIn(name))-32):] }

// OfRun returns the text by which a row shows that the run drew it; empty if none does.
func OfRun(row map[string]any, run string) string {
	for _, text := range []string{MarkOf(row).Name, MarkOf(row).Subject} {
		if text != "" && RunIn(text) == strings.ReplaceAll(run, "-", "") {
			return text
		}
	}
	return ""
}

// Listed are the rows of a list that runs have named, and when the newest of all rows was
// created. That shows the target's own clock, which may differ from ours.
type Listed struct {
	Rows   []paging.Row
	newest time.Time
}

// Look returns what is in a list.
func Look(rows []paging.Row) (l Listed) {
	for _, row := range rows {
		if made := created(row.Value); made.After(l.newest) {
			l.newest = made
		}
		if MarkOf(row.Value) != (Mark{}) {
			l.Rows = append(l.Rows, row)
		}
	}
	return l
}

// Before reports whether a row may have existed before the run began. after is the id of the
// newest test before its first; empty if unknown.
func (l Listed) Before(row map[string]any, run, after string) bool {
	id, _ := row["id"].(string)
	began, known := issued(run)
	return !known || !Sound(id) || after != "" && !Newer(id, after) || l.newest.Sub(created(row)) > time.Since(began)+mostAge
}

// created returns when the row was created, by the target's clock; zero if it does not tell.
func created(row map[string]any) time.Time {
	text, _ := row["timestamp_created"].(string)
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		id, _ := row["id"].(string)
		at, _ = issued(id)
	}
	return at
}

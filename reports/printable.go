package reports

import "outreach.example/conformance/reports/internal/printable"

// Printable returns s with everything that does not print as itself written
// as an escape: control characters, terminal sequences, bidirectional and
// zero-width marks, and bytes that are no UTF-8. A view passes every string
// that a target may have had a hand in through it, so that no answer can move
// a reader's cursor or reorder a reader's text. The result is one line.
func Printable(s string) string { return printable.Text(s) }

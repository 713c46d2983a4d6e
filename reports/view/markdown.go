package view

import (
	"fmt"
	"io"
	"strings"

	"outreach.example/conformance/reports"
)

// Limits of a summary. GitHub refuses more than 1 MiB.
const (
	maxRows    = 100 // failed checks
	maxMissing = 30  // missingTable inputs
)

// markdownRun writes r as Markdown for the job summary: the verdict, a table of outcomes, a
// table of failures and, collapsed, their details and the missing inputs. Code is the
// exit code of the process.
func markdownRun(w io.Writer, r reports.Results, o Options) error {
	code := o.ExitCode
	var b strings.Builder
	fmt.Fprintf(&b, "### %s %s\n\n", verdictMark(r.Verdict), escaped(verdictLine(r, code)))
	identify(&b, r.Target, r.Run.Seed, r.Tool)
	for _, reason := range r.Reasons {
		fmt.Fprintf(&b, "- %s\n", escaped(reason))
	}
	for _, t := range r.Troubles {
		fmt.Fprintf(&b, "- trouble: %s: %s\n", escaped(t.Where), escaped(t.What))
	}
	n := reports.Count(r.Checks)
	fmt.Fprintf(&b, "\n| passed | failed | failed as expected | not assessed | in error |\n|---:|---:|---:|---:|---:|\n| %d | %d | %d | %d | %d |\n",
		n.Pass, n.Fail, n.Expected, n.NotAssessed, n.Error)
	failureTable(&b, r.Checks)
	expectedFailures(&b, r.Checks)
	missingTable(&b, r.Checks)
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}

// identify writes what was judged, and by which harness.
func identify(b *strings.Builder, target reports.Target, seed int64, tool reports.Tool) {
	if name := strings.TrimSpace(target.Name + " " + target.Version); name != "" {
		fmt.Fprintf(b, "Target: %s · ", escaped(name))
	}
	fmt.Fprintf(b, "seed %d · %s\n\n", seed, escaped(strings.TrimSpace(tool.Name+" "+tool.Version)))
}

func verdictMark(v reports.Verdict) string {
	switch v {
	case reports.Passed:
		return "✓"
	case reports.Failed:
		return "✗"
	default:
		return "?"
	}
}

// failureTable writes a row for each failed check, and a collapsed block with details.
func failureTable(b *strings.Builder, checks []reports.Check) {
	var failed []reports.Check
	for _, group := range failures(checks) {
		failed = append(failed, group...)
	}
	if len(failed) == 0 {
		return
	}
	shown := failed[:min(len(failed), maxRows)]
	b.WriteString("\n| requirement | operation | expected | actual |\n|---|---|---|---|\n")
	for _, c := range shown {
		expected, actual := "", ""
		if len(c.Violations) > 0 {
			expected, actual = c.Violations[0].Expected, c.Violations[0].Actual
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", escaped(c.Requirement), escaped(c.Operation), escaped(expected), escaped(actual))
	}
	if left := len(failed) - len(shown); left > 0 {
		fmt.Fprintf(b, "\n%d more failed checks are in the results.\n", left)
	}
	b.WriteString("\n<details><summary>Details of the failures</summary>\n")
	for _, c := range shown {
		fmt.Fprintf(b, "\n**%s** on %s", escaped(c.Requirement), escaped(c.Operation))
		if len(c.Violations) > 0 {
			from := strings.TrimPrefix(c.Level+"; "+c.Violations[0].Section, "; ") // load has no level
			fmt.Fprintf(b, ": %s (%s)", escaped(c.Violations[0].Statement), escaped(from))
		}
		b.WriteString("\n\n")
		// An indented block shows its text as it is.
		for _, line := range example(c) {
			b.WriteString("    " + line + "\n")
		}
	}
	b.WriteString("\n</details>\n")
}

// expectedFailures writes a row for each failure that the target's owner declared.
func expectedFailures(b *strings.Builder, checks []reports.Check) {
	written := 0
	for _, c := range checks {
		if c.Outcome != reports.ExpectedFailure || c.Waiver == nil {
			continue
		}
		if written++; written > maxRows {
			continue
		}
		if written == 1 {
			b.WriteString("\n| expected failure | operation | until | reason |\n|---|---|---|---|\n")
		}
		until := c.Waiver.Expires
		if c.Waiver.Flaky {
			until += ", flaky"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", escaped(c.Requirement), escaped(c.Operation), escaped(until),
			escaped(strings.TrimSpace(c.Waiver.Reason+" "+c.Waiver.Link)))
	}
	if written > maxRows {
		fmt.Fprintf(b, "\n%d more expected failures are in the results.\n", written-maxRows)
	}
}

// missingTable writes a collapsed list of missing inputs, the most frequent first.
func missingTable(b *strings.Builder, checks []reports.Check) {
	inputs := missingInputs(checks)
	if len(inputs) == 0 {
		return
	}
	b.WriteString("\n<details><summary>Missing inputs of checks that were not assessed</summary>\n\n| checks | missing |\n|---:|---|\n")
	for _, in := range inputs[:min(len(inputs), maxMissing)] {
		fmt.Fprintf(b, "| %d | %s |\n", in.checks, escaped(in.name))
	}
	b.WriteString("\n</details>\n")
}

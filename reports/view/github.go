package view

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/diff"
	"outreach.example/conformance/reports/summary"
)

// maxAnnotations is the number of annotations of a step that GitHub shows.
const maxAnnotations = 10

// StopCommands tells the runner to ignore workflow commands in what follows on w, until the
// returned function is called. The token must be unpredictable: a target must not know
// it.
func StopCommands(w io.Writer, token string) (resume func() error, err error) {
	if _, err := fmt.Fprintf(w, "::stop-commands::%s\n", token); err != nil {
		return nil, err
	}
	return func() error {
		_, err := fmt.Fprintf(w, "::%s::\n", token)
		return err
	}, nil
}

// annotateRun writes annotations to w: the verdict unless it is pass, and the first probable
// causes of failures. Code is the exit code of the process. Checks that newly fail stand in
// the annotations of their causes only.
func annotateRun(w io.Writer, r reports.Results, o Options) error {
	code := o.ExitCode
	var commands []string
	if code != 0 {
		text := verdictLine(r, code)
		for _, reason := range r.Reasons {
			if slices.Contains(r.Regressions, reason) && strings.HasPrefix(reason, diff.NewlyFailing) {
				continue
			}
			text += "\nbecause " + printable.Text(reason)
		}
		commands = append(commands, command(r.Tool.Name, text))
	}
	for _, cause := range summary.Causes(r.Checks) {
		if len(commands) == maxAnnotations {
			break
		}
		groups := cause.Requirements()
		text := explained(groups[0])
		if len(groups) > 1 {
			text += "\nalike     " + alikeNames(groups[1:])
		}
		commands = append(commands, command(groups[0][0].Requirement, text))
	}
	_, err := io.WriteString(w, strings.Join(commands, ""))
	return err
}

// Mistake writes an annotation for an error of a command that has no results.
func Mistake(w io.Writer, mistake error) error {
	_, err := io.WriteString(w, command(reports.ToolName, printable.Lines(mistake.Error())))
	return err
}

// verdictLine returns the verdict with its coverage, as in the last line of the console.
func verdictLine(r reports.Results, code int) string {
	return fmt.Sprintf("%s  exit %d · %s", r.Word(), code, summary.CoverageOf(r.Checks))
}

// explained returns a failed requirement: its statement, an example and the operations.
func explained(failed []reports.Check) string {
	var lines []string
	if v := failed[0].Violations; len(v) > 0 {
		lines = append(lines, printable.Text(v[0].Statement))
	}
	lines = append(lines, example(failed[0])...)
	if len(failed) > 1 {
		var also []string
		for _, c := range failed[1:] {
			also = append(also, printable.Text(c.Operation))
		}
		lines = append(lines, "also      "+strings.Join(also, ", "))
	}
	return strings.Join(lines, "\n")
}

// example returns the lines of each kind of violation of a check.
func example(c reports.Check) []string {
	lines := []string{"on        " + printable.Text(c.Operation)}
	for _, v := range c.Violations {
		lines = append(lines, "at        "+v.Place(), "expected  "+oneLine(v.Expected), "actual    "+oneLine(v.Actual))
		if v.Curl != "" {
			lines = append(lines, "repeat    "+printable.Text(v.Curl))
		}
	}
	return lines
}

// maxAlike is the number of further requirements of one cause that an annotation names.
const maxAlike = 6

func alikeNames(groups [][]reports.Check) string {
	var names []string
	for _, group := range groups[:min(len(groups), maxAlike)] {
		names = append(names, printable.Text(group[0].Requirement))
	}
	if left := len(groups) - maxAlike; left > 0 {
		names = append(names, fmt.Sprintf("… and %d more", left))
	}
	return strings.Join(names, ", ")
}

// failures groups the failed checks by requirement, in the order of their causes.
func failures(checks []reports.Check) [][]reports.Check {
	var groups [][]reports.Check
	for _, cause := range summary.Causes(checks) {
		groups = append(groups, cause.Requirements()...)
	}
	return groups
}

var (
	ofData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	ofProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// command returns a workflow command that makes an annotation.
func command(title, text string) string {
	return "::error title=" + ofProperty.Replace(printable.Text(title)) + "::" + ofData.Replace(text) + "\n"
}

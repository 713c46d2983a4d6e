package view

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/diff"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/summary"
)

// Limits of what GitHub shows. It refuses a summary of more than 1 MiB.
const (
	maxRows        = 100 // of a table of a summary
	maxAnnotations = 10  // of a step
	maxRunes       = 500 // of a value; the results have the whole
)

// oneLine returns the beginning of s as one printable line.
func oneLine(s string) string {
	text := []rune(printable.Text(s))
	if len(text) > maxRunes {
		return string(text[:maxRunes]) + "…"
	}
	return string(text)
}

// markdown returns a text as one line of plain text in Markdown and HTML. Numeric character
// references never begin markup. GitHub makes links of what follows www, and emphasis of what stands
// between underscores, except within a word.
func markdown(value any) string {
	var b strings.Builder
	text := []rune(oneLine(strings.TrimSpace(fmt.Sprint(value))))
	isWord := func(i int) bool {
		return i >= 0 && i < len(text) && (unicode.IsLetter(text[i]) || unicode.IsDigit(text[i]))
	}
	for i, r := range text {
		emphasis := r == '_' && !(isWord(i-1) && isWord(i+1))
		link := r == '.' && i >= 3 && strings.EqualFold(string(text[i-3:i]), "www")
		if emphasis || link || strings.ContainsRune("\\`*{}[]<>()#+!|&~@:$", r) {
			fmt.Fprintf(&b, "&#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// failuresByCause returns the failed requirements in the order of their probable causes.
func failuresByCause(checks []reports.Check) (all []summary.Failure) {
	for _, cause := range summary.Causes(checks) {
		all = append(all, cause.Failures()...)
	}
	return all
}

// kindsByCause returns the kinds of their violations.
func kindsByCause(checks []reports.Check) (all []summary.Kind) {
	for _, f := range failuresByCause(checks) {
		all = append(all, f.Kinds...)
	}
	return all
}

// Parts of scenarios, with their names.
type (
	scenarioThreshold struct {
		load.Threshold
		Scenario string
	}
	scenarioPhase struct {
		load.Phase
		Scenario string
	}
)

func allThresholds(scenarios []load.Scenario) (all []scenarioThreshold) {
	for _, s := range scenarios {
		for _, t := range s.Thresholds {
			all = append(all, scenarioThreshold{t, s.Name})
		}
	}
	return all
}

func allPhases(scenarios []load.Scenario) (all []scenarioPhase) {
	for _, s := range scenarios {
		for _, p := range counting(s.Phases) {
			all = append(all, scenarioPhase{p, s.Name})
		}
	}
	return all
}

// quantileOf returns a quantile of the accepted responses of a phase; empty without one.
func quantileOf(p load.Phase, of float64) string {
	switch q := quantileAt(p, of); {
	case q == nil:
		return ""
	case q.Open:
		return load.AtLeast(true, q.LowMS)
	default:
		return printable.Figure(q.ValueMS)
	}
}

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

// Mistake writes an annotation for an error of a command that has no results.
func Mistake(w io.Writer, mistake error) error {
	_, err := fmt.Fprintln(w, annotation(reports.ToolName, printable.Lines(mistake.Error())))
	return err
}

var (
	ofData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	ofProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// annotation returns a workflow command that makes an annotation.
func annotation(title, text string) string {
	return "::error title=" + ofProperty.Replace(title) + "::" + ofData.Replace(strings.Join(split(text), "\n"))
}

// annotated returns the causes that have an annotation beside that of the verdict.
func (s *screen) annotated(r reports.Results) []summary.Cause {
	causes := summary.Causes(r.Checks)
	return causes[:min(len(causes), maxAnnotations-min(1, s.ExitCode))]
}

// news returns the reasons of the verdict. Checks that newly fail stand in the annotations of their causes only.
func news(r reports.Results) []string {
	return slices.DeleteFunc(slices.Clone(r.Reasons), func(reason string) bool {
		return slices.Contains(r.Regressions, reason) && strings.HasPrefix(reason, diff.NewlyFailing)
	})
}

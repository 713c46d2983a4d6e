package github

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"outreach.example/conformance/internal/printable"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/internal/markdown"
	"outreach.example/conformance/reports/load"
)

// AnnotateLoad is Annotate for the results of a load run: the verdict unless it is pass,
// the reasons of scenarios, such as a missed threshold, and the broken requirements.
func AnnotateLoad(w io.Writer, r load.Results, code int) error {
	if code == 0 {
		return nil // load merge judges a shard with the others
	}
	text := loadVerdict(r, code)
	for _, reason := range ownReasons(r) {
		text += "\nbecause " + reports.Printable(reason)
	}
	commands := []string{command(r.Tool.Name, text)}
	for _, s := range r.Scenarios {
		for _, reason := range s.Reasons {
			commands = append(commands, command(s.Name, reports.Printable(reason)))
		}
	}
	for _, failed := range failures(broken(r.Scenarios)) {
		commands = append(commands, command(failed[0].Requirement, explained(failed)))
	}
	_, err := io.WriteString(w, strings.Join(commands[:min(len(commands), maxAnnotations)], ""))
	return err
}

// loadVerdict returns the verdict with its coverage, as in the last line of the console.
func loadVerdict(r load.Results, code int) string {
	word := r.Verdict.Word()
	switch {
	case r.Run.Interrupted:
		word += " (interrupted)"
	case r.Run.Shard != nil:
		word += " for this shard only"
	}
	return fmt.Sprintf("%s  exit %d · %s", word, code, r.Coverage())
}

// ownReasons returns the reasons of the run that are not those of a scenario.
func ownReasons(r load.Results) []string {
	return slices.DeleteFunc(slices.Clone(r.Reasons), func(reason string) bool {
		return slices.ContainsFunc(r.Scenarios, func(s load.Scenario) bool {
			return strings.HasPrefix(reason, s.Name+": ") && len(s.Reasons) > 0
		})
	})
}

// broken returns the requirements that operations broke under load, as failed checks.
// One that several scenarios broke is there once.
func broken(scenarios []load.Scenario) []reports.Check {
	var checks []reports.Check
	for _, s := range scenarios {
		for _, v := range s.Violations {
			same := func(c reports.Check) bool { return c.Requirement == v.Requirement && c.Operation == v.Operation }
			if !slices.ContainsFunc(checks, same) {
				checks = append(checks, reports.Check{Requirement: v.Requirement, Operation: v.Operation, Outcome: reports.Fail, Violations: v.Examples})
			}
		}
	}
	return checks
}

// SummaryLoad is Summary for the results of a load run: the verdict, the scenarios, the
// thresholds, the comparison, the broken requirements and, collapsed, the figures of
// each phase.
func SummaryLoad(w io.Writer, r load.Results, code int) error {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s %s\n\n", mark(r.Verdict), markdown.Text(loadVerdict(r, code)))
	identify(&b, r.Target, r.Run.Seed, r.Tool)
	for _, reason := range ownReasons(r) {
		fmt.Fprintf(&b, "- %s\n", markdown.Text(reason))
	}
	scenarios, thresholds, phases := markdown.Table{}, markdown.Table{}, markdown.Table{}
	for _, s := range r.Scenarios {
		scenarios.Add(s.Name, mark(s.Verdict)+" "+s.Verdict.Word(), strings.Join(s.Reasons, "; "))
		for _, t := range s.Thresholds {
			thresholds.Add(s.Name, t.Text, t.Phase, string(t.Outcome), measured(t), t.Why)
		}
		for _, p := range s.Phases {
			if !p.Warmup {
				phases.Add(s.Name, p.Name, printable.Figure(p.RatePerSecond), printable.Figure(p.AchievedPerSecond), quantile(p, 0.5), quantile(p, 0.99),
					count(p.Response.Limited), count(p.Response.Failed))
			}
		}
	}
	scenarios.Write(&b, "| scenario | verdict | because |\n|---|---|---|\n", maxRows)
	thresholds.Write(&b, "| scenario | threshold | phase | outcome | measured | because |\n|---|---|---|---|---:|---|\n", maxRows)
	compared(&b, r.Comparison)
	failureTable(&b, broken(r.Scenarios))
	if len(phases) > 0 {
		b.WriteString("\n<details><summary>Figures of each phase</summary>\n")
		phases.Write(&b, "| scenario | phase | requested /s | accepted /s | p50 ms | p99 ms | limited | failed |\n|---|---|---:|---:|---:|---:|---:|---:|\n", maxRows)
		b.WriteString("\n</details>\n")
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}

// measured returns the figure that a threshold is about; empty without one.
func measured(t load.Threshold) string {
	if t.Measured == nil {
		return ""
	}
	return t.Measured.In(t.Unit)
}

// compared writes the table of compared figures, if there are some.
func compared(b *strings.Builder, c *load.Comparison) {
	if c == nil {
		return
	}
	figures := markdown.Table{}
	for _, f := range c.Figures {
		a, other := "", ""
		if f.A != nil && f.B != nil {
			a, other = load.AtLeast(f.AOpen, *f.A), load.AtLeast(f.BOpen, *f.B)
		}
		figures.Add(f.Name, f.Unit, a, other, string(f.Verdict), f.Why)
	}
	figures.Write(b, "| figure | unit | A | B | outcome | because |\n|---|---|---:|---:|---|---|\n", maxRows)
}

// quantile returns a quantile of the accepted responses of a phase; empty without one.
func quantile(p load.Phase, of float64) string {
	if p.Response.Accepted != nil {
		for _, q := range p.Response.Accepted.Quantiles {
			if q.P == of {
				if q.Open {
					return load.AtLeast(true, q.LowMS)
				}
				return printable.Figure(q.ValueMS)
			}
		}
	}
	return ""
}

func count(d *load.Distribution) string {
	if d == nil {
		return "0"
	}
	return strconv.FormatInt(d.Count, 10)
}

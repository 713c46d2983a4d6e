package view

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
)

// annotateLoad is Annotate for the results of a load run: the verdict unless it is pass,
// the reasons of scenarios, such as a missed threshold, and the broken requirements.
func annotateLoad(w io.Writer, r load.Results, o Options) error {
	code := o.ExitCode
	if code == 0 {
		return nil // load merge judges a shard with the others
	}
	text := loadVerdictLine(r, code)
	for _, reason := range ownReasons(r) {
		text += "\nbecause " + printable.Text(reason)
	}
	commands := []string{command(r.Tool.Name, text)}
	for _, s := range r.Scenarios {
		for _, reason := range s.Reasons {
			commands = append(commands, command(s.Name, printable.Text(reason)))
		}
	}
	for _, failed := range failures(broken(r.Scenarios)) {
		commands = append(commands, command(failed[0].Requirement, explained(failed)))
	}
	_, err := io.WriteString(w, strings.Join(commands[:min(len(commands), maxAnnotations)], ""))
	return err
}

// loadVerdictLine returns the verdict with its coverage, as in the last line of the console.
func loadVerdictLine(r load.Results, code int) string {
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

// markdownLoad is Summary for the results of a load run: the verdict, the scenarios, the
// thresholds, the comparison, the broken requirements and, collapsed, the figures of
// each phase.
func markdownLoad(w io.Writer, r load.Results, o Options) error {
	code := o.ExitCode
	var b strings.Builder
	fmt.Fprintf(&b, "### %s %s\n\n", verdictMark(r.Verdict), escaped(loadVerdictLine(r, code)))
	identify(&b, r.Target, r.Run.Seed, r.Tool)
	for _, reason := range ownReasons(r) {
		fmt.Fprintf(&b, "- %s\n", escaped(reason))
	}
	scenarios, thresholds, phases := markdownTable{}, markdownTable{}, markdownTable{}
	for _, s := range r.Scenarios {
		scenarios.add(s.Name, verdictMark(s.Verdict)+" "+s.Verdict.Word(), strings.Join(s.Reasons, "; "))
		for _, t := range s.Thresholds {
			thresholds.add(s.Name, t.Text, t.Phase, string(t.Outcome), measuredBy(t), t.Why)
		}
		for _, p := range s.Phases {
			if !p.Warmup {
				phases.add(s.Name, p.Name, printable.Figure(p.RatePerSecond), printable.Figure(p.AchievedPerSecond), quantileOf(p, 0.5), quantileOf(p, 0.99),
					countOf(p.Response.Limited), countOf(p.Response.Failed))
			}
		}
	}
	scenarios.write(&b, "| scenario | verdict | because |\n|---|---|---|\n", maxRows)
	thresholds.write(&b, "| scenario | threshold | phase | outcome | measured | because |\n|---|---|---|---|---:|---|\n", maxRows)
	comparedTable(&b, r.Comparison)
	failureTable(&b, broken(r.Scenarios))
	if len(phases) > 0 {
		b.WriteString("\n<details><summary>Figures of each phase</summary>\n")
		phases.write(&b, "| scenario | phase | requested /s | accepted /s | p50 ms | p99 ms | limited | failed |\n|---|---|---:|---:|---:|---:|---:|---:|\n", maxRows)
		b.WriteString("\n</details>\n")
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}

// measuredBy returns the figure that a threshold is about; empty without one.
func measuredBy(t load.Threshold) string {
	if t.Measured == nil {
		return ""
	}
	return t.Measured.In(t.Unit)
}

// comparedTable writes the table of compared figures, if there are some.
func comparedTable(b *strings.Builder, c *load.Comparison) {
	if c == nil {
		return
	}
	figures := markdownTable{}
	for _, f := range c.Figures {
		a, other := "", ""
		if f.A != nil && f.B != nil {
			a, other = load.AtLeast(f.AOpen, *f.A), load.AtLeast(f.BOpen, *f.B)
		}
		figures.add(f.Name, f.Unit, a, other, string(f.Verdict), f.Why)
	}
	figures.write(b, "| figure | unit | A | B | outcome | because |\n|---|---|---:|---:|---|---|\n", maxRows)
}

// quantileOf returns a quantile of the accepted responses of a phase; empty without one.
func quantileOf(p load.Phase, of float64) string {
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

func countOf(d *load.Distribution) string {
	if d == nil {
		return "0"
	}
	return strconv.FormatInt(d.Count, 10)
}

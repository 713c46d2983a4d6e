package view

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports/console"
	"outreach.example/conformance/reports/load"
)

// phases shows a table of the measured phases. Verbose adds each phase in full.
func (p *page) phases(all []load.Phase) {
	var counting []load.Phase
	for _, phase := range all {
		if !phase.Warmup {
			counting = append(counting, phase)
		}
	}
	if len(counting) == 0 {
		return
	}
	shown := p.limit(len(counting), maxPhases)
	p.phaseTable(counting[:shown])
	if left := len(counting) - shown; left > 0 {
		p.line("  ", p.paint.Dim(p.more(left, noun(left, "phase", "phases"))))
	}
	if p.Verbose {
		for _, phase := range counting {
			p.phase(phase)
		}
	}
}

// column is a column of the table of phases. On a narrow page the columns with the
// highest spare are omitted.
type column struct {
	title string
	spare int
	of    func(*page, load.Phase) string
}

// responseAt returns the column of a quantile of the response time. It leaves out what the
// plan has too few requests for. A spare column also leaves out what too few independent
// requests measured: max says as much.
func responseAt(title string, quantile float64, spare int) column {
	return column{title, spare, func(p *page, ph load.Phase) string {
		if d := ph.Response.Accepted; d != nil && ph.Supports(quantile) {
			for _, q := range d.Quantiles {
				if q.P == quantile && (spare == 0 || !q.Open) {
					return p.quantile(q)
				}
			}
		}
		return p.paint.Dim("–")
	}}
}

// phaseColumns returns the columns of the table of phases.
func phaseColumns() []column {
	return []column{
		{"phase", 0, func(p *page, ph load.Phase) string { return console.Cut(printable.Text(ph.Name), widestPhase) }},
		{"asked/s", 1, func(p *page, ph load.Phase) string { return p.asked(ph) }},
		{"served/s", 4, func(_ *page, ph load.Phase) string { return printable.Figure(ph.AchievedPerSecond) }},
		responseAt("p50 ms", 0.5, 0),
		responseAt("p95", 0.95, 5),
		responseAt("p99", 0.99, 0),
		responseAt("p99.9", 0.999, 7),
		{"max", 6, func(p *page, ph load.Phase) string {
			if d := ph.Response.Accepted; d != nil {
				return d.Longest()
			}
			return p.paint.Dim("–")
		}},
		{"ok", 3, func(_ *page, ph load.Phase) string { return printable.Number(int(answers(ph.Response.Accepted))) }},
		{"429", 2, func(_ *page, ph load.Phase) string { return printable.Number(int(answers(ph.Response.Limited))) }},
		{"failed", 0, func(p *page, ph load.Phase) string {
			n := answers(ph.Response.Failed)
			if n > 0 {
				return p.paint.Red(printable.Number(int(n)))
			}
			return "0"
		}},
	}
}

const widestPhase = 20

// asked returns the requested rate. A schedule with several rates has none.
func (p *page) asked(ph load.Phase) string {
	switch {
	case ph.ClosedLoop:
		return p.paint.Dim("closed")
	case ph.RatePerSecond == 0:
		return p.paint.Dim("varied")
	default:
		return printable.Figure(ph.RatePerSecond)
	}
}

func answers(d *load.Distribution) int64 {
	if d == nil {
		return 0
	}
	return d.Count
}

func (p *page) phaseTable(phases []load.Phase) {
	columns, marked := phaseColumns(), p.marked
	for p.tableWidth(columns, phases) > p.width-scenarioIndent {
		most := slices.MaxFunc(columns, func(a, b column) int { return a.spare - b.spare })
		if most.spare == 0 {
			break
		}
		columns = slices.DeleteFunc(columns, func(c column) bool { return c.title == most.title })
	}
	p.marked = marked // ignore marks in omitted columns
	w := table.NewWriter()
	w.SetStyle(table.Style{
		Box:    table.BoxStyle{PaddingRight: strings.Repeat(" ", gap)},
		Format: table.FormatOptions{Header: text.FormatDefault, Row: text.FormatDefault},
	})
	w.SuppressTrailingSpaces()
	var header table.Row
	var layout []table.ColumnConfig
	for i, c := range columns {
		header = append(header, p.paint.Dim(c.title))
		if i > 0 {
			layout = append(layout, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	w.SetColumnConfigs(layout)
	w.AppendHeader(header)
	for _, ph := range phases {
		var row table.Row
		for _, c := range columns {
			row = append(row, c.of(p, ph))
		}
		w.AppendRow(row)
	}
	for row := range strings.SplitSeq(w.Render(), "\n") {
		p.line(strings.Repeat(" ", scenarioIndent), row)
	}
}

func (p *page) tableWidth(columns []column, phases []load.Phase) int {
	total := 0
	for _, c := range columns {
		widest := console.Width(c.title)
		for _, ph := range phases {
			widest = max(widest, console.Width(c.of(p, ph)))
		}
		total += widest + gap
	}
	return total - gap
}

// sent shows the numbers of sent and failed requests, and the share of inspected
// responses.
func (p *page) sent(s load.Scenario) {
	if t := counted(s); t.Planned > 0 {
		p.fact("sent", p.ofPlan(t))
	}
	p.failed(s.Failed())
	if n := s.Requests; n != nil && n.Total > n.Counted {
		p.fact("total", printable.Number(int(n.Total))+" requests: "+purposes(*n))
	}
	if c := s.Coverage; c != nil {
		p.fact("inspected", fmt.Sprintf("%s %% of %s responses checked against the specification", printable.Figure(100*c.Share), printable.Number(int(c.Answers))))
	}
}

// failed shows the most frequent kinds of failure.
func (p *page) failed(all []load.Ending) {
	if len(all) == 0 {
		return
	}
	shown := p.limit(len(all), maxEndings)
	var parts []string
	for _, e := range all[:shown] {
		parts = append(parts, printable.Text(e.How)+": "+p.paint.Red(printable.Number(int(e.Count))))
	}
	rest := int64(0)
	for _, e := range all[shown:] {
		rest += e.Count
	}
	if rest > 0 {
		parts = append(parts, "in other ways: "+p.paint.Red(printable.Number(int(rest))))
	}
	p.fact("failed", strings.Join(parts, ", "))
}

// counted sums up the requests of the measured phases.
func counted(scenarios ...load.Scenario) load.Traffic {
	var t load.Traffic
	for _, s := range scenarios {
		for _, ph := range s.Phases {
			if !ph.Warmup {
				t.Planned, t.Sent, t.Late, t.Dropped = t.Planned+ph.Planned, t.Sent+ph.Sent, t.Late+ph.Late, t.Dropped+ph.Dropped
			}
		}
	}
	return t
}

func (p *page) ofPlan(t load.Traffic) string {
	lost := printable.Number(int(t.Dropped)) + " dropped"
	if t.Dropped > 0 {
		lost = p.paint.Red(lost)
	}
	return fmt.Sprintf("%s of %s planned, %s late, %s", printable.Number(int(t.Sent)), printable.Number(int(t.Planned)), printable.Number(int(t.Late)), lost)
}

// purposes returns the numbers of requests by purpose.
func purposes(n load.Requests) string {
	var parts []string
	for _, part := range []struct {
		requests int64
		purpose  string
	}{
		{n.Counted, "measured"}, {n.WarmUp, "for warm-up"},
		{n.Searched, "at the rates tried"}, {n.Beside, "for preparation and probes"},
	} {
		if part.requests > 0 {
			parts = append(parts, printable.Number(int(part.requests))+" "+part.purpose)
		}
	}
	return strings.Join(parts, ", ")
}

// quantile shows a quantile by one figure, or an unreliable one by its interval.
func (p *page) quantile(q load.Quantile) string {
	if !q.Flagged {
		return printable.Figure(q.ValueMS)
	}
	p.marked = true
	between := printable.Figure(q.LowMS) + "–" + printable.Figure(q.HighMS)
	if q.Open {
		between = "≥" + printable.Figure(q.LowMS)
	}
	return p.paint.Yellow(between)
}

// phase shows a phase in full.
func (p *page) phase(ph load.Phase) {
	rate := "in a closed loop"
	switch {
	case ph.ClosedLoop:
	case ph.RatePerSecond == 0:
		rate = "at varied rates"
	default:
		rate = fmt.Sprintf("of %s/s", printable.Figure(ph.RatePerSecond))
	}
	said := fmt.Sprintf("%s planned, %s sent, %s late, %s dropped; %s/s %s", printable.Number(int(ph.Planned)), printable.Number(int(ph.Sent)), printable.Number(int(ph.Late)), printable.Number(int(ph.Dropped)), printable.Figure(ph.AchievedPerSecond), rate)
	if ph.OtherLoad {
		said += " " + p.paint.Yellow("another load")
	}
	p.fact(p.label(ph.Name), said)
	show := func(label, content string) {
		if content != "" {
			p.entry(2*scenarioIndent, factColumn-scenarioIndent, label, content)
		}
	}
	for _, of := range []struct {
		label string
		d     *load.Distribution
	}{
		{"response", ph.Response.Accepted}, {"service", ph.Service.Accepted}, {"limited", ph.Response.Limited}, {"failed", ph.Response.Failed}, {"send lag", ph.Lag},
	} {
		show(of.label, p.distribution(of.d))
	}
	statuses := counts(ph.Statuses, func(status string) string {
		if status == "none" {
			return "no response"
		}
		return printable.Text(status)
	})
	if len(ph.Failures) > 0 {
		statuses += " (" + counts(ph.Failures, func(failure string) string { return printable.Text(load.FailureInWords(failure)) }) + ")"
	}
	show("statuses", statuses)
	for _, l := range ph.Labels {
		show("·", fmt.Sprintf("%s  %s accepted, %s limited, %s failed  %s", printable.Text(l.Name),
			printable.Number(int(l.Accepted)), printable.Number(int(l.Limited)), printable.Number(int(l.Failed)), p.distribution(l.Response)))
	}
}

// distribution returns the quantiles in milliseconds.
func (p *page) distribution(d *load.Distribution) string {
	if d == nil {
		return ""
	}
	parts := []string{"ms"}
	for _, q := range d.Quantiles {
		parts = append(parts, "p"+strconv.FormatFloat(100*q.P, 'g', 6, 64)+" "+p.quantile(q))
	}
	return strings.Join(append(parts, "max "+d.Longest()), "  ")
}

// counts returns the keys with their numbers.
func counts(n map[string]int64, name func(string) string) string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(n)) {
		all = append(all, name(key)+": "+printable.Number(int(n[key])))
	}
	return strings.Join(all, "  ")
}

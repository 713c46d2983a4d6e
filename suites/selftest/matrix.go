package selftest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/internal/disk"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/runner"
)

// matrixVersion is the version of the matrix's JSON form.
const matrixVersion = "1"

// Matrix is what a self-test found out: which defects prove which checks, and
// what is wrong with the suites.
type Matrix struct {
	Version string    `json:"version"`
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"`
	Seed    uint64    `json:"seed"`
	// Whole tells that every defect and quirk was tried, so that a pair without
	// a kill is unproven; a sample cannot say that.
	Whole bool `json:"whole"`

	Pairs   []PairProof   `json:"pairs"`
	Defects []DefectFate  `json:"defects"`
	Legal   []LegalResult `json:"legal"` // the honest target, the quirks, and groups that only fail together
}

// PairProof is one requirement × operation with the defects that its check caught.
type PairProof struct {
	Requirement string   `json:"requirement"`
	Operation   string   `json:"operation"`
	Kills       []string `json:"kills"`
	// Sharp are the kills in which no other check of the specs that ran failed.
	Sharp int `json:"sharp"`

	accompanied bool // a kill failed nothing but listed companions
}

// DefectFate is one defect and what became of it.
type DefectFate struct {
	ID          string   `json:"id"`
	Requirement string   `json:"requirement"`
	Operation   string   `json:"operation"`
	Doc         string   `json:"doc"`
	Fate        Fate     `json:"fate"`
	Tries       int      `json:"tries,omitempty"`     // if it took more than one
	Also        []string `json:"also,omitempty"`      // other checks that failed
	Strangers   []string `json:"strangers,omitempty"` // those among them that are not companions of the requirement
	Detail      string   `json:"detail,omitempty"`    // for all but the killed: what is known
	Causes      []string `json:"causes,omitempty"`    // the first check of each probable cause
}

// LegalResult is what the suites made of a target that conforms.
type LegalResult struct {
	ID          string   `json:"id"` // a quirk's id, ids joined by + for a group that fails only together, "honest" for none
	Allowed     string   `json:"allowed,omitempty"`
	Doc         string   `json:"doc"`
	With        []string `json:"with,omitempty"` // the other quirks that the target had at the same time
	Failed      []string `json:"failed,omitempty"`
	Troubled    []string `json:"troubled,omitempty"`
	NotAssessed int      `json:"not_assessed"`
}

// OK reports whether the suites let the legal target pass.
func (r LegalResult) OK() bool { return len(r.Failed)+len(r.Troubled) == 0 }

// Problems lists everything for which a self-test fails, one sentence each.
func (m Matrix) Problems() []string {
	var problems []string
	for _, l := range m.Legal {
		for _, f := range l.Failed {
			problems = append(problems, fmt.Sprintf("the legal behaviour %q was failed by %s", l.ID, f))
		}
		for _, t := range l.Troubled {
			problems = append(problems, fmt.Sprintf("the legal behaviour %q led to trouble: %s", l.ID, t))
		}
	}
	for _, d := range m.Defects {
		if len(d.Strangers) > 0 {
			problems = append(problems, fmt.Sprintf("the defect %s also failed %s, which the self-test does not list as a companion of %s",
				d.ID, strings.Join(d.Strangers, ", "), d.Requirement))
		}
		switch d.Fate {
		case survived:
			problems = append(problems, fmt.Sprintf("the defect %s survived: %s on %s did not fail %s", d.ID, d.Requirement, d.Operation, d.Detail))
		case wrongReason:
			problems = append(problems, fmt.Sprintf("the defect %s was caught for the wrong reason: not by %s on %s but by %s %s",
				d.ID, d.Requirement, d.Operation, strings.Join(d.Also, ", "), d.Detail))
		}
	}
	for _, p := range m.unproven() {
		problems = append(problems, fmt.Sprintf("no defect that only its companions caught too shows that %s on %s can fail", p.Requirement, p.Operation))
	}
	return problems
}

// unproven returns the pairs without a defect that fails nothing but their check and its
// companions, if the self-test was whole.
func (m Matrix) unproven() []PairProof {
	if !m.Whole {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(m.Pairs), func(p PairProof) bool { return p.Sharp > 0 || p.accompanied })
}

// Figures are the numbers that sum up a self-test.
type Figures struct {
	Pairs, Proven, Sharp int // Sharp: pairs with a defect that their check alone caught
	Defects, Killed      int
	Again                int // killed at a further try
	Quirks, Tolerated    int // Tolerated: accepted quirks
	Seconds              float64
}

// Figures counts.
func (m Matrix) Figures() Figures {
	f := Figures{Pairs: len(m.Pairs), Defects: len(m.Defects), Seconds: m.Seconds}
	for _, p := range m.Pairs {
		if len(p.Kills) > 0 {
			f.Proven++
		}
		if p.Sharp > 0 {
			f.Sharp++
		}
	}
	for _, d := range m.Defects {
		if d.Fate == killed {
			f.Killed++
			f.Again += min(d.Tries, 1)
		}
	}
	for _, l := range m.Legal {
		if l.ID == honest || strings.Contains(l.ID, "+") {
			continue
		}
		f.Quirks++
		if l.OK() {
			f.Tolerated++
		}
	}
	return f
}

// causeFigures sums up in one line how many probable causes a report shows of a defect.
// It is empty if no defect was found.
func (m Matrix) causeFigures() string {
	defects := slices.DeleteFunc(slices.Clone(m.Defects), func(d DefectFate) bool { return len(d.Causes) == 0 })
	if len(defects) == 0 {
		return ""
	}
	slices.SortStableFunc(defects, func(a, b DefectFate) int { return len(a.Causes) - len(b.Causes) })
	first := 0
	for _, d := range defects {
		if d.Causes[0] == pairName(spec.Pair{Requirement: d.Requirement, Operation: d.Operation}) {
			first++
		}
	}
	n, worst := len(defects), defects[len(defects)-1]
	return fmt.Sprintf("causes for each defect: median %d, 95 %% ≤ %d, worst %d (%s); the broken check comes first for %d of %d",
		len(defects[(n-1)/2].Causes), len(defects[(n*95+99)/100-1].Causes), len(worst.Causes), worst.ID, first, n)
}

// honest is the id of the run without any fault.
const honest = "honest"

// String is the figures in one line.
func (f Figures) String() string {
	again := ""
	if f.Again > 0 {
		again = fmt.Sprintf(", %d of them at a further try", f.Again)
	}
	return fmt.Sprintf("%d of %d requirement × operation pairs proven, %d of them by a defect that nothing else caught; %d of %d defects killed%s; %d of %d quirks accepted; %.0f s",
		f.Proven, f.Pairs, f.Sharp, f.Killed, f.Defects, again, f.Tolerated, f.Quirks, f.Seconds)
}

// prove fills in Pairs, those of the selected operations, from the defects.
func (m *Matrix) prove(selection runner.Selection) {
	kills := map[spec.Pair]*PairProof{}
	for _, p := range spec.Pairs() {
		if !selection.Operation(p.Operation) {
			continue
		}
		m.Pairs = append(m.Pairs, PairProof{Requirement: p.Requirement, Operation: p.Operation, Kills: []string{}})
	}
	for i := range m.Pairs {
		kills[spec.Pair{Requirement: m.Pairs[i].Requirement, Operation: m.Pairs[i].Operation}] = &m.Pairs[i]
	}
	for _, d := range m.Defects {
		if d.Fate != killed {
			continue
		}
		p := kills[spec.Pair{Requirement: d.Requirement, Operation: d.Operation}]
		p.Kills = append(p.Kills, d.ID)
		if len(d.Also) == 0 {
			p.Sharp++
		}
		p.accompanied = p.accompanied || len(d.Strangers) == 0
	}
}

// WriteJSON writes the matrix as JSON.
func (m Matrix) WriteJSON(path string) error {
	encoded, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return disk.Write(path, append(encoded, '\n'))
}

// WriteMarkdown writes the matrix for people: a line for each pair.
func (m Matrix) WriteMarkdown(path string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Kill matrix\n\n%s, seed %d.\n\n", m.Figures(), m.Seed)
	if causes := m.causeFigures(); causes != "" {
		fmt.Fprintf(&b, "%s.\n\n", causes)
	}
	if problems := m.Problems(); len(problems) > 0 {
		b.WriteString("## Problems\n\n")
		for _, p := range problems {
			fmt.Fprintf(&b, "- %s\n", p)
		}
		b.WriteByte('\n')
	}
	b.WriteString("## Requirements and the defects that prove their checks\n")
	operation := ""
	for _, p := range m.byOperation() {
		if p.Operation != operation {
			operation = p.Operation
			fmt.Fprintf(&b, "\n### %s\n\n| requirement | killed by |\n|---|---|\n", operation)
		}
		names := make([]string, len(p.Kills))
		for i, id := range p.Kills {
			names[i] = "`" + strings.TrimPrefix(id, p.Operation+"/") + "`"
		}
		fmt.Fprintf(&b, "| %s | %s |\n", p.Requirement, strings.Join(names, ", "))
	}
	b.WriteString("\n## Legal behaviour that must pass\n\n| behaviour | allowed by | tried together with | verdict |\n|---|---|---|---|\n")
	for _, l := range m.Legal {
		verdict := "passes"
		if !l.OK() {
			verdict = "**fails**"
		}
		fmt.Fprintf(&b, "| `%s`: the server %s | %s | %s | %s |\n", l.ID, l.Doc, l.Allowed, strings.Join(l.With, ", "), verdict)
	}
	return disk.Write(path, []byte(b.String()))
}

func (m Matrix) byOperation() []PairProof {
	rank := map[string]int{}
	for i, op := range spec.Operations() {
		rank[op.ID] = i
	}
	pairs := slices.Clone(m.Pairs)
	slices.SortStableFunc(pairs, func(a, b PairProof) int { return rank[a.Operation] - rank[b.Operation] })
	return pairs
}

package judge

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// NewEvidence returns a ledger that is open for every pair: what one spec found
// out. Ledger.Add enters it into the ledger of a run.
func NewEvidence() *Ledger {
	l := NewLedger(nil)
	l.open = true
	return l
}

// NewEvidenceBeside is NewEvidence for one of many specs. The ledger, which they share,
// decides which examples of violations a spec keeps beside its first of each pair. So
// many specs that see the same violations do not each keep examples of them.
func NewEvidenceBeside(shared *Ledger) *Ledger {
	l := NewEvidence()
	l.beside = shared
	return l
}

// Add enters all evidence of another ledger.
func (l *Ledger) Add(other *Ledger) {
	other.mu.Lock()
	defer other.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	for p, from := range other.entries {
		e := l.at(p)
		if e == nil {
			continue
		}
		e.Assessments += from.Assessments
		for status, n := range from.Refusals {
			e.refuse(status, n)
		}
		for _, input := range from.Missing {
			e.miss(input)
		}
		for _, id := range from.Exchanges {
			e.cite(id)
		}
		l.total += from.Count
		e.Count += from.Count
		e.merge(from.examples)
		e.Troubled, e.Lost = e.Troubled || from.Troubled, e.Lost || from.Lost
	}
	for operation, statuses := range other.answered {
		for status := range statuses {
			l.answer(operation, status)
		}
	}
	for seen, n := range other.observed {
		l.observe(seen, n)
	}
	for _, t := range other.troubles {
		l.trouble(t)
	}
}

// From says which exchange shows what is entered from now on: that with the id, of the last
// response that the caller got.
func (l *Ledger) From(exchange int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.exchange = exchange
}

// Last returns the exchange of From.
func (l *Ledger) Last() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.exchange
}

func (e *entry) cite(exchange int) {
	if exchange != 0 && len(e.Exchanges) < maxCited && !slices.Contains(e.Exchanges, exchange) {
		e.Exchanges = append(e.Exchanges, exchange)
	}
}

func (e *entry) refuse(status, n int) {
	if e.Refusals == nil {
		e.Refusals = map[int]int{}
	}
	e.Refusals[status] += n
}

// wireEvidence is the JSON form of a ledger, in which evidence crosses from one
// process to another.
type wireEvidence struct {
	Pairs    map[string]*entry     `json:"pairs,omitempty"`
	Answered map[string][]int      `json:"answered,omitempty"`
	Observed []reports.Observation `json:"observed,omitempty"`
	Troubles []reports.Trouble     `json:"troubles,omitempty"`
}

// MarshalJSON writes the evidence.
func (l *Ledger) MarshalJSON() ([]byte, error) {
	observed := l.Observations()
	l.mu.Lock()
	defer l.mu.Unlock()
	wire := wireEvidence{Pairs: map[string]*entry{}, Answered: map[string][]int{}, Observed: observed, Troubles: l.troubles}
	for p, e := range l.entries {
		wire.Pairs[wirePair(p)] = e
	}
	for operation, statuses := range l.answered {
		wire.Answered[operation] = slices.Sorted(maps.Keys(statuses))
	}
	return json.Marshal(wire)
}

// UnmarshalJSON reads what MarshalJSON wrote. A pair or an open point that the
// catalogue does not have is an error.
func (l *Ledger) UnmarshalJSON(data []byte) error {
	var wire wireEvidence
	if err := json.Unmarshal(data, &wire); err != nil {
		return err
	}
	*l = Ledger{entries: map[spec.Pair]*entry{}, troubles: wire.Troubles, open: true}
	l.empty()
	for name, e := range wire.Pairs {
		p, err := pairOf(name)
		if err != nil {
			return err
		}
		if e == nil {
			return fmt.Errorf("no evidence on %q", name)
		}
		l.entries[p] = e
		l.total += e.Count
	}
	for operation, statuses := range wire.Answered {
		for _, status := range statuses {
			l.answer(operation, status)
		}
	}
	for _, o := range wire.Observed {
		if _, ok := spec.FindOpenPoint(o.OpenPoint); !ok {
			return fmt.Errorf("the catalogue has no open point %q", o.OpenPoint)
		}
		l.observe(observation{o.OpenPoint, o.Operation, o.Value}, o.Count)
	}
	return nil
}

// wirePair names a pair in the JSON form; pairOf reads the name.
func wirePair(p spec.Pair) string { return p.Requirement + " " + p.Operation }

func pairOf(name string) (spec.Pair, error) {
	requirement, operation, _ := strings.Cut(name, " ")
	p := spec.Pair{Requirement: requirement, Operation: operation}
	if !spec.Has(p) {
		return spec.Pair{}, fmt.Errorf("the catalogue has no pair %q", name)
	}
	return p, nil
}

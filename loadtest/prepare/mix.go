package prepare

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/spec"
)

// Mix decides what each request of a scenario asks; generate.Mix turns it into
// Vegeta's targeter. Its turns are the slots of one round. Each operation has as many
// as its share, and rounds repeat through all phases. A request depends only on its
// place in the scenario, so shards together ask what the whole asks.
type Mix struct {
	subjects   *Subjects
	limits     []int
	turns      []turn
	operations []spec.Operation
	// instead replaces an operation that has no more rows or may not change any.
	instead spec.Operation
	// If there are too few tests to delete, every n-th deletion is asked in a phase.
	// 0 and 1 mean all of them.
	every uint64
}

// turn is one slot of a round: number nth of the operation's slots in the round.
type turn struct {
	op      spec.Operation
	nth, of uint64
}

// Mix draws the order of a round of the scenario. left says which operations
// are left out, and why. readsOnly leaves out those that change something.
// The error says that nothing can be requested, or that a shard cannot request what others may.
func (s *Subjects) Mix(of scenario.Scenario, readsOnly bool) (m *Mix, left []string, err error) {
	m = &Mix{subjects: s, limits: of.Limits}
	without, whys := map[string][]string{}, []string(nil) // the operations that are left out, by the reason
	for _, share := range of.Operations() {
		op, lacking := share.Operation, s.lacks(share.Operation)
		switch {
		case readsOnly && op.Unsafe():
			lacking = "a comparison changes nothing"
		case s.rows.denied != "" && s.env.Shard.Of > 1 && slices.Contains(exclusive, op.ID):
			return nil, nil, fmt.Errorf("%s; a shard leaves nothing out that the others may ask", s.rows.denied)
		}
		if lacking != "" {
			if without[lacking] == nil {
				whys = append(whys, lacking)
			}
			without[lacking] = append(without[lacking], op.ID)
			continue
		}
		m.operations = append(m.operations, op)
		for nth := range share.Weight {
			m.turns = append(m.turns, turn{op, uint64(nth), uint64(share.Weight)})
		}
		if m.instead.ID == "" && !op.Unsafe() {
			m.instead = op
		}
	}
	for _, why := range whys {
		left = append(left, leftOut(without[why], why))
	}
	if m.instead.ID == "" {
		return nil, nil, nothingReads(left)
	}
	rng := rand.New(rand.NewPCG(s.seed, 0x6d6978))
	rng.Shuffle(len(m.turns), func(i, j int) { m.turns[i], m.turns[j] = m.turns[j], m.turns[i] })
	return m, left, nil
}

// leftOut says which operations are left out for the reason.
func leftOut(operations []string, why string) string {
	if len(operations) == 1 {
		return fmt.Sprintf("%s is left out: %s", operations[0], why)
	}
	last := len(operations) - 1
	return fmt.Sprintf("%s and %s are left out: %s", strings.Join(operations[:last], ", "), operations[last], why)
}

// nothingReads returns the error of a mix without an operation that reads, with what
// was left out and a hint.
func nothingReads(left []string) error {
	which := ""
	if len(left) > 0 {
		which = ": " + strings.Join(left, "; ")
	}
	return fmt.Errorf("no operation of the mix reads and can be requested%s. Add one that can be requested, such as %s=1 (--mix, or mix in the file of scenarios): it warms up, and takes the place of changes for which there are no more rows",
		which, spec.Probe())
}

// Operations returns the operations that the mix asks, in the order of the catalogue.
func (m *Mix) Operations() []spec.Operation { return m.operations }

// at returns the operation at the place, and its number among the requests of the
// operation.
func (m *Mix) at(place uint64) (spec.Operation, uint64) {
	round, slot := place/uint64(len(m.turns)), place%uint64(len(m.turns))
	t := m.turns[slot]
	n := round*t.of + t.nth
	left := m.subjects.rows.finite(t.op.ID)
	thinned := t.op.ID == spec.DeletePlacementTest && m.every > 1 && n%m.every != 0
	if left != nil && n >= uint64(len(*left)) || thinned {
		return m.instead, place
	}
	return t.op, n
}

// asks reports whether the mix has the operation. It saves a look at the many turns
// of a long phase.
func (m *Mix) asks(operation string) bool {
	return slices.ContainsFunc(m.turns, func(t turn) bool { return t.op.ID == operation })
}

// Requests returns the mix of a phase that begins at the place base of the scenario.
func (m *Mix) Requests(limit int, base uint64) generate.Mix {
	return func(seq uint64) generate.Request {
		place := base + seq
		op, n := m.at(place)
		return m.subjects.request(op, m.limitAt(limit, place), n, place)
	}
}

// Reading returns the mix of a warm-up, which changes nothing.
func (m *Mix) Reading(limit int) generate.Mix {
	return func(seq uint64) generate.Request {
		op, n := m.at(seq)
		if op.Unsafe() {
			op = m.instead
		}
		return m.subjects.request(op, m.limitAt(limit, seq), n, seq)
	}
}

// InTurn stands for a page size: the mix's sizes take turns, one a round.
const InTurn = -1

func (m *Mix) limitAt(limit int, place uint64) int {
	if limit != InTurn {
		return limit
	}
	if len(m.limits) == 0 {
		return 0
	}
	return m.limits[place/uint64(len(m.turns))%uint64(len(m.limits))]
}

// places returns the places where the shard of a phase asks the operation, which
// changes something, and the number of its turns there.
func (m *Mix) places(s measure.Schedule, base uint64, operation string) (places []uint64, turns int) {
	if !m.asks(operation) {
		return nil, 0
	}
	for i := range uint64(s.Planned()) {
		place := base + s.Seq(i)
		if m.turns[place%uint64(len(m.turns))].op.ID != operation {
			continue
		}
		turns++
		if op, _ := m.at(place); op.ID == operation {
			places = append(places, place)
		}
	}
	return places, turns
}

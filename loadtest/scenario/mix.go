package scenario

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/schedule"
	"outreach.example/conformance/spec"
)

// mix decides what each request of a scenario asks; generate.Mix turns it into
// Vegeta's targeter. Its turns are the slots of one round. Each operation has as many
// as its share, and rounds repeat through all phases. A request depends only on its
// place in the scenario, so shards together ask what the whole asks.
type mix struct {
	subjects *subjects
	limits   []int
	turns    []turn
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

// newMix draws the order of a round. It also returns the operations that cannot be
// asked, each with the reason.
func newMix(s *subjects, shares []share, limits []int) (m *mix, left []string, err error) {
	m = &mix{subjects: s, limits: limits}
	for _, share := range shares {
		if lacking := s.lacks(share.op); lacking != "" {
			left = append(left, fmt.Sprintf("%s is left out: %s", share.op.ID, lacking))
			continue
		}
		for nth := range share.weight {
			m.turns = append(m.turns, turn{share.op, uint64(nth), uint64(share.weight)})
		}
		if m.instead.ID == "" && !share.op.Unsafe() {
			m.instead = share.op
		}
	}
	if len(m.turns) == 0 || m.instead.ID == "" {
		return nil, left, errNothingReads
	}
	rng := rand.New(rand.NewPCG(s.seed, 0x6d6978))
	rng.Shuffle(len(m.turns), func(i, j int) { m.turns[i], m.turns[j] = m.turns[j], m.turns[i] })
	return m, left, nil
}

// errNothingReads is the error of a mix without an operation that reads.
var errNothingReads = errors.New("no operation of the mix reads and can be asked")

// nothingReads returns errNothingReads with the operations that were left out, the
// reasons, and a hint.
func nothingReads(left []string) error {
	said := ""
	if len(left) > 0 {
		said = ": " + strings.Join(left, "; ")
	}
	return fmt.Errorf("%w%s. Add one that can be asked, such as %s=1 (--mix, or mix in the file of scenarios): it warms up, and takes the place of changes for which there are no more rows",
		errNothingReads, said, spec.ListLeadLists)
}

// at returns the operation at the place, and its number among the requests of the
// operation.
func (m *mix) at(place uint64) (spec.Operation, uint64) {
	round, slot := place/uint64(len(m.turns)), place%uint64(len(m.turns))
	t := m.turns[slot]
	n := round*t.of + t.nth
	most, finite := m.subjects.finite(t.op)
	thinned := t.op.ID == spec.DeletePlacementTest && m.every > 1 && n%m.every != 0
	if finite && n >= most || thinned {
		return m.instead, place
	}
	return t.op, n
}

// asks reports whether the mix has the operation. It saves a look at the many turns
// of a long phase.
func (m *mix) asks(operation string) bool {
	return slices.ContainsFunc(m.turns, func(t turn) bool { return t.op.ID == operation })
}

// has returns the number of turns of the operation in a phase.
func (m *mix) has(s schedule.Schedule, base uint64, operation string) (turns uint64) {
	if !m.asks(operation) {
		return 0
	}
	for i := range uint64(s.Planned()) {
		if m.turns[(base+s.Seq(i))%uint64(len(m.turns))].op.ID == operation {
			turns++
		}
	}
	return turns
}

// requests returns the mix of a phase that begins at the place base of the scenario.
func (m *mix) requests(limit int, base uint64) generate.Mix {
	return func(seq uint64) generate.Request {
		place := base + seq
		op, n := m.at(place)
		return m.subjects.request(op, m.limitAt(limit, place), n, place)
	}
}

// from is requests for a phase whose first place is not known yet.
func (m *mix) from(limit int) func(base uint64) generate.Mix {
	return func(base uint64) generate.Mix { return m.requests(limit, base) }
}

// reading returns the mix of a warm-up, which changes nothing.
func (m *mix) reading(limit int) generate.Mix {
	return func(seq uint64) generate.Request {
		op, n := m.at(seq)
		if op.Unsafe() {
			op = m.instead
		}
		return m.subjects.request(op, m.limitAt(limit, seq), n, seq)
	}
}

// inTurn stands for a page size: the mix's sizes take turns, one a round.
const inTurn = -1

func (m *mix) limitAt(limit int, place uint64) int {
	if limit != inTurn {
		return limit
	}
	if len(m.limits) == 0 {
		return 0
	}
	return m.limits[place/uint64(len(m.turns))%uint64(len(m.limits))]
}

// places returns the places where the shard of a phase asks the operation.
func (m *mix) places(s schedule.Schedule, base uint64, operation string) []uint64 {
	if !m.asks(operation) {
		return nil
	}
	var places []uint64
	for i := range uint64(s.Planned()) {
		place := base + s.Seq(i)
		if op, _ := m.at(place); op.ID == operation {
			places = append(places, place)
		}
	}
	return places
}

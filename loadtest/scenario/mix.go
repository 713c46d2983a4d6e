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

// A mix decides what each request of a scenario asks. Its turns are the slots
// of one round, in which each operation has as many as its share; rounds repeat
// through all phases. The place of a request in the scenario alone decides what
// it is, so that shards together ask what the whole asks.
type mix struct {
	subjects *subjects
	limits   []int
	turns    []turn
	// instead is asked where an operation has run out of subjects, and where
	// nothing may be changed.
	instead spec.Operation
	// every is how manyth deletion of a test is asked in a phase: there are not more
	// tests for it. 0 and 1 are all of them.
	every uint64
}

// turn is one slot of a round: the operation, and the how manyth it is of the
// operation's slots in the round.
type turn struct {
	op      spec.Operation
	nth, of uint64
}

// newMix draws the order of a round. left names the operations that cannot be
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

// errNothingReads is a mix that cannot be asked.
var errNothingReads = errors.New("no operation of the mix reads and can be asked")

// nothingReads is errNothingReads with the operations that were left out, each with
// the reason, and what to do.
func nothingReads(left []string) error {
	said := ""
	if len(left) > 0 {
		said = ": " + strings.Join(left, "; ")
	}
	return fmt.Errorf("%w%s. Add one that can be asked, such as %s=1 (--mix, or mix in the file of scenarios): it warms up, and takes the place of changes for which there are no more rows",
		errNothingReads, said, spec.ListLeadLists)
}

// at returns the operation at the place and how manyth of the operation it is.
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

// asks reports whether the mix has the operation at all: a long phase has many turns.
func (m *mix) asks(operation string) bool {
	return slices.ContainsFunc(m.turns, func(t turn) bool { return t.op.ID == operation })
}

// has returns how many turns the operation has in a phase.
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

// requests returns what a phase asks that begins at the place base of the scenario.
func (m *mix) requests(limit int, base uint64) generate.Mix {
	return func(seq uint64) generate.Request {
		place := base + seq
		op, n := m.at(place)
		return m.subjects.request(op, m.limitAt(limit, place), n, place)
	}
}

// from is requests, for a phase of which it is not known yet where it begins.
func (m *mix) from(limit int) func(base uint64) generate.Mix {
	return func(base uint64) generate.Mix { return m.requests(limit, base) }
}

// reading is requests, but changes nothing: for warming up.
func (m *mix) reading(limit int) generate.Mix {
	return func(seq uint64) generate.Request {
		op, n := m.at(seq)
		if op.Unsafe() {
			op = m.instead
		}
		return m.subjects.request(op, m.limitAt(limit, seq), n, seq)
	}
}

// inTurn, in place of a page size, asks for the mix's sizes round by round.
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

// places returns the places at which the shard of a phase asks the operation.
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

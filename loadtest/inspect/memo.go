package inspect

import (
	"hash/maphash"
	"maps"
	"sync"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/spec"
)

// remembered is the size of the memo. A load asks for few different pages. An entry
// takes some hundred bytes.
const remembered = 4096

// question holds all inputs of the rules' judgement. The body is represented by a hash
// with a random seed, so no target can make two bodies look alike.
type question struct {
	operation, owner, id, contentType string
	allowed                           client.Allowed
	limit, status, length             int
	body                              uint64
}

var seed = maphash.MakeSeed()

func questionOf(a Answer, asked judge.Request) question {
	body := a.Body.Bytes()
	return question{
		operation: asked.Operation.ID, owner: asked.Owner, id: asked.ID, limit: asked.Limit, allowed: asked.Allowed,
		status: a.Status, contentType: a.Header.Get("Content-Type"),
		length: len(body), body: maphash.Bytes(seed, body),
	}
}

// proof is the judgement of one answer, and how often the answer came again since
// the ledger was last updated.
type proof struct {
	seen   []judge.Seen
	broken map[spec.Pair]int
	again  int
}

// memo remembers judged answers.
type memo struct {
	ledger *judge.Ledger
	mu     sync.Mutex
	proofs map[question]*proof
}

// repeat reports whether the answer was judged before. If so, it counts it.
func (m *memo) repeat(q question) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.proofs[q]
	if p != nil {
		p.again++
	}
	return p != nil
}

// keep remembers a judgement. A full memo forgets a random one.
func (m *memo) keep(q question, checked judge.Result) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.proofs[q] != nil {
		return // two goroutines judged the same answer
	}
	for old, p := range m.proofs {
		if len(m.proofs) < remembered {
			break
		}
		m.enter(p)
		delete(m.proofs, old)
	}
	p := &proof{seen: checked.Seen, broken: map[spec.Pair]int{}}
	maps.Copy(p.broken, checked.More)
	for _, f := range checked.Findings {
		p.broken[f.Pair]++
	}
	m.proofs[q] = p
}

// settle updates the ledger with the repeated answers so far.
func (m *memo) settle() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.proofs {
		m.enter(p)
	}
}

// enter puts the repetitions of an answer into the ledger.
func (m *memo) enter(p *proof) {
	if p.again == 0 {
		return
	}
	for _, seen := range p.seen {
		m.ledger.Assessed(seen.Pair, seen.Times*p.again)
	}
	for pair, n := range p.broken {
		m.ledger.ViolatedAgain(pair, n*p.again)
	}
	p.again = 0
}

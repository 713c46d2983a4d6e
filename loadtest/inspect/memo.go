package inspect

import (
	"hash/maphash"
	"sync"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/spec"
)

// remembered is how many answers the memo knows. A load asks for few different
// pages, and an entry takes some hundred bytes.
const remembered = 4096

// question is all that the rules' judgement of an answer depends on. The body
// stands in it as a hash with a seed of this process's own, so that no target
// can make two bodies look alike.
type question struct {
	operation, owner, id, contentType string
	valid, open                       bool
	limit, status, length             int
	body                              uint64
}

var seed = maphash.MakeSeed()

func questionOf(a Answer, asked judge.Asked) question {
	body := a.Body.Bytes()
	return question{
		operation: asked.Operation.ID, owner: asked.Owner, id: asked.ID, limit: asked.Limit, valid: asked.Valid, open: asked.Open,
		status: a.Status, contentType: a.Header.Get("Content-Type"),
		length: len(body), body: maphash.Bytes(seed, body),
	}
}

// proof is what the rules said of one answer, and how often it came again since
// that was last entered into the ledger.
type proof struct {
	seen, broken map[spec.Pair]int
	again        int
}

// memo knows the answers that were judged.
type memo struct {
	mu     sync.Mutex
	proofs map[question]*proof
	enter  func(*proof) // settles the account of a proof
}

// repeat reports whether the answer was judged before, and counts it if so.
func (m *memo) repeat(q question) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.proofs[q]
	if p != nil {
		p.again++
	}
	return p != nil
}

// keep remembers what an answer came to. When there is no room, one that is
// picked by chance makes way.
func (m *memo) keep(q question, p *proof) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.proofs[q] != nil {
		return // two goroutines judged the same answer
	}
	for old, settled := range m.proofs {
		if len(m.proofs) < remembered {
			break
		}
		m.enter(settled)
		delete(m.proofs, old)
	}
	m.proofs[q] = p
}

// settle enters into the ledger what has come again so far.
func (m *memo) settle() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.proofs {
		m.enter(p)
		p.again = 0
	}
}

package scenario

import (
	"errors"
	"fmt"
	"math"
	"sync"
)

// ErrBudget keeps requests back that the profile does not allow any more.
var ErrBudget = errors.New("the budget does not suffice (load.budget)")

// Budget counts what a load run sends to its targets and bounds it: phases,
// warm-ups and probes, and what prepares them, with everything that is sent
// again. It is safe for concurrent use.
type Budget struct {
	most int64   // 0: no bound
	of   *Budget // the whole of which it is a part; nil for none

	mu    sync.Mutex
	spent int64
}

// NewBudget allows so many requests; 0 bounds nothing.
func NewBudget(most int64) *Budget { return &Budget{most: most} }

// Part counts apart what one of several targets gets, within the whole.
func (b *Budget) Part() *Budget { return &Budget{of: b} }

// One takes a single request: it is the Allow of clients.
func (b *Budget) One() error {
	if err := b.take(1); err != nil {
		return ErrBudget
	}
	return nil
}

// take takes so many requests, or none if they are too many.
func (b *Budget) take(requests int64) error {
	if b.of != nil {
		if err := b.of.take(requests); err != nil {
			return err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.most > 0 && requests > b.most-b.spent {
		return fmt.Errorf("the budget of %d requests does not suffice: %d are spent, and what comes next takes %d (load.budget)", b.most, b.spent, requests)
	}
	b.spent += requests
	return nil
}

// giveBack returns what was taken and not sent.
func (b *Budget) giveBack(requests int64) {
	if b.of != nil {
		b.of.giveBack(requests)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spent -= requests
}

// left is how many requests it still allows.
func (b *Budget) left() int64 {
	if b.of != nil {
		return b.of.left()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.most == 0 {
		return math.MaxInt64
	}
	return b.most - b.spent
}

// sent is how many requests were taken so far.
func (b *Budget) sent() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent
}

package prepare

import (
	"errors"
	"fmt"
	"math"
	"sync"
)

// ErrBudget is the error for requests beyond the profile's budget.
var ErrBudget = errors.New("the budget is used up (load.budget)")

// Budget counts and bounds the requests that a load run sends to its targets:
// phases, warm-ups, probes, preparation and retries. It is safe for concurrent use.
type Budget struct {
	most int64   // 0 for no bound
	of   *Budget // the budget that it is a part of; nil for none

	mu    sync.Mutex
	spent int64
}

// NewBudget returns a budget of that many requests; 0 sets no bound.
func NewBudget(most int64) *Budget { return &Budget{most: most} }

// Part returns a budget that counts the requests to one of several targets, within b.
func (b *Budget) Part() *Budget { return &Budget{of: b} }

// One takes a single request. Clients use it as their Allow.
func (b *Budget) One() error {
	if err := b.Take(1); err != nil {
		return ErrBudget
	}
	return nil
}

// Take takes that many requests, or none if the budget does not allow them all.
func (b *Budget) Take(requests int64) error {
	if b.of != nil {
		if err := b.of.Take(requests); err != nil {
			return err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.most > 0 && requests > b.most-b.spent {
		return fmt.Errorf("the budget of %d requests is too small: %d are spent, and the next step needs %d (load.budget)", b.most, b.spent, requests)
	}
	b.spent += requests
	return nil
}

// GiveBack returns requests that were taken but not sent.
func (b *Budget) GiveBack(requests int64) {
	if b.of != nil {
		b.of.GiveBack(requests)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spent -= requests
}

// Left returns how many requests the budget still allows.
func (b *Budget) Left() int64 {
	if b.of != nil {
		return b.of.Left()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.most == 0 {
		return math.MaxInt64
	}
	return b.most - b.spent
}

// Sent returns how many requests were taken so far.
func (b *Budget) Sent() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent
}

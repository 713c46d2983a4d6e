package sandbox

import (
	"context"
	"fmt"
	"sync"

	"outreach.example/conformance/internal/sandbox/lock"
	"outreach.example/conformance/internal/sandbox/owned"
	"outreach.example/conformance/reports"
)

// runLock is the run's lock on rows that only one run can use.
type runLock struct {
	mu        sync.Mutex
	own       *lock.Lock // nil before the first attempt
	release   func()     // stops renewing it; nil if nothing does
	decided   bool
	denied    string // the missing input if another run holds the lock
	abandoned string // why the accounts may be elsewhere; empty if nobody was killed
}

// Lock makes sure that no other run uses the rows that only one run can use. The
// error is *Denied if another run does. If the target or the profile allows no
// lock, the run uses the rows without one.
func (s *Sandbox) Lock(ctx context.Context) error {
	if !lock.Possible(s.Profile) || owned.IsOrdinary(s.Run) { // a lock would show whose run this is
		return nil
	}
	s.lock.mu.Lock()
	defer s.lock.mu.Unlock()
	if !s.lock.decided {
		if err := s.takeLock(ctx); err != nil {
			return err
		}
	}
	if s.lock.denied != "" {
		return &Denied{s.lock.denied}
	}
	return nil
}

// takeLock decides whether the run has the rows to itself. The caller holds the mutex.
func (s *Sandbox) takeLock(ctx context.Context) error {
	if s.lock.own == nil {
		s.lock.own = &lock.Lock{Send: s.Send, Profile: s.Profile, Journal: s.Journal, LeftBehind: s.Ended, Permit: s.spend, Run: s.Run}
	}
	over := func() {}
	holder, err := s.lock.own.Take(ctx, s.LockTimeout, func(holder string) {
		over = s.Waits(fmt.Sprintf("another run uses the same rows of the target (its test %q)", holder), s.LockTimeout)
	})
	over()
	if err != nil {
		return err
	}
	s.lock.decided, s.lock.denied, s.lock.abandoned = true, "", ""
	if stale := s.lock.own.Stale(); len(stale) > 0 {
		s.lock.abandoned = lock.Abandoned(stale[0])
	}
	if holder != "" {
		s.lock.denied = "to be the only run on this target: " + lock.HeldBy(holder)
	} else {
		s.lock.release = s.lock.own.KeepAlive(ctx)
	}
	s.subsequences.forget() // other runs may have deleted some
	return nil
}

// abandoned returns why accounts may be elsewhere than at home; empty if they are not.
func (s *Sandbox) abandoned() string {
	s.lock.mu.Lock()
	defer s.lock.mu.Unlock()
	return s.lock.abandoned
}

// Close rolls back what the run has left so far, and releases its lock if it holds
// one. While rows are uncertain it keeps the lock, so that other runs do not rely on
// them until cleanup has rolled back what the journal lists.
func (s *Sandbox) Close(ctx context.Context) {
	rollback, cancel := ForRollback(ctx)
	defer cancel()
	again := s.sweep(rollback, ctx.Err() == nil)
	s.lock.mu.Lock()
	defer s.lock.mu.Unlock()
	if s.lock.release != nil {
		s.lock.release()
		s.lock.release = nil
	}
	if s.lock.own != nil {
		if s.Journal != nil && s.uncertain.any() {
			return
		}
		if err := s.lock.own.Release(rollback); err != nil {
			s.Trouble("lock", err.Error())
			again = true
		}
		s.lock.decided, s.lock.denied = false, ""
	}
	if !again {
		if err := s.Journal.NothingCreated(); err != nil {
			s.Trouble(reports.Rollback, err.Error())
		}
	}
}

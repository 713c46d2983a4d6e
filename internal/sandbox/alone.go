package sandbox

import (
	"context"
	"sync"

	"outreach.example/conformance/fixtures/dataset"
)

// alone is whether the run found a test of another run.
type alone struct {
	mu    sync.Mutex
	known bool
	other string // empty for none
}

// Alone makes sure that no other run uses the rows that only one run can use: accounts that
// move, subsequences to delete, and a key with a limit. The error is *Denied if the target
// shows a test of another run. That run may be active, or it
// was killed and may have left accounts elsewhere.
func (s *Sandbox) Alone(ctx context.Context) error {
	key, ok := s.Profile.FullKey(dataset.Main)
	if !ok || s.Profile.Stateless || isOrdinary(s.Run) { // an ordinary run looks like any client
		return nil
	}
	s.alone.mu.Lock()
	defer s.alone.mu.Unlock()
	if !s.alone.known {
		test, err := s.workspaceOf(key.ForClient()).Foreign(ctx, s.Run, s.Ended, s.Afford)
		if err != nil {
			return err
		}
		s.alone.known, s.alone.other = true, test
	}
	if s.alone.other != "" {
		return denied("%s", NotAlone(s.alone.other))
	}
	return nil
}

// NotAlone is the input that is missing if the target shows a test of another run.
func NotAlone(test string) string {
	return "to be the only run on this target: it shows " + test + " of another run (if that run has ended, run `outreach-conformance cleanup` where it ran, or delete its tests)"
}

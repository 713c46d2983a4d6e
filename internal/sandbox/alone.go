package sandbox

import (
	"context"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/sandbox/owned"
	"outreach.example/conformance/reports"
)

// Alone makes sure that no other run uses the rows that only one run can use: accounts that
// move, subsequences to delete, and a key with a limit. The error is *Denied if the target
// showed a test of another run before this one created any. That run may be active, or it
// was killed and may have left accounts elsewhere.
func (s *Sandbox) Alone(ctx context.Context) error {
	key, ok := s.Profile.FullKey(dataset.Main)
	if !ok || s.Profile.Stateless || owned.IsOrdinary(s.Run) { // an ordinary run looks like any client
		return nil
	}
	tests := s.workspaceOf(key.ForClient())
	if err := tests.LookBefore(ctx, s.spend); err != nil {
		return err
	}
	if test := tests.Foreign(s.Run, s.Ended); test != "" {
		return denied("%s", NotAlone(test))
	}
	return nil
}

// NotAlone is the input that is missing if the target shows a test of another run.
func NotAlone(test string) string {
	return "to be the only run on this target: it shows " + test + " of another run (if that run has ended, run `outreach-conformance cleanup` where it ran, or delete its tests)"
}

// Close rolls back what the run has left so far.
func (s *Sandbox) Close(ctx context.Context) {
	rollback, cancel := ForRollback(ctx)
	defer cancel()
	if s.sweep(rollback, ctx.Err() == nil) {
		return
	}
	if err := s.Journal.NothingCreated(); err != nil {
		s.Trouble(reports.Rollback, err.Error())
	}
}

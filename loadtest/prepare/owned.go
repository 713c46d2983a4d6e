package prepare

import (
	"context"
	"fmt"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/internal/sandbox"
)

// A target may answer a creation with the id of a row that existed before. Load deletes
// only tests that are proven to be the run's own.

// made is the answer to a creation.
type made struct {
	id, name string
	ex       client.Exchange
}

func (m made) creation() sandbox.Creation {
	return sandbox.Creation{Mark: sandbox.MarkOf(map[string]any{"name": m.name}), At: sandbox.At(m.ex)}
}

// lookBefore finds out, once, which tests exist before the run creates any.
func (s *Subjects) lookBefore(ctx context.Context) error {
	if s.profile.Stateless {
		return nil
	}
	if s.env.tests == nil {
		s.env.tests = sandbox.NewTests(s.env.Client.Do, s.profile, s.mainKey)
	}
	return s.env.tests.LookBefore(ctx, nil)
}

// prove returns an error if it cannot prove that the tests are the run's own. One list shows
// many of them.
func (s *Subjects) prove(ctx context.Context, tests ...made) error {
	if s.profile.Stateless { // it answers with examples, and deletes nothing
		return nil
	}
	own := s.env.tests
	for _, m := range tests {
		own.Received(m.id, m.creation())
	}
	listed := map[string]map[string]any{}
	if len(tests) > 1 {
		rows, _ := own.Newest(ctx) // without the list, gets show the tests
		for _, row := range rows {
			listed[row.Key] = row.Value
		}
	}
	for _, m := range tests {
		if c := m.creation(); !c.Mark.On(listed[paging.FoldID(m.id)]) || own.Excluded(m.id, c) != "" {
			proof, err := own.Await(ctx, m.id)
			if err != nil {
				return err
			}
			if proof.State != sandbox.Own {
				return fmt.Errorf("the target answered a creation with a test that is not proven to be new: %s", proof.Describe())
			}
		}
	}
	return nil
}

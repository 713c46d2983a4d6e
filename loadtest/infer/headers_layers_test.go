package infer

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestUnreachedQuotaIsOnlyNoted uses headers that state one layer that never
// applies and one that was measured.
func TestUnreachedQuotaIsOnlyNoted(t *testing.T) {
	w := newWorld(2, mustParse(t, "fixed-window:10/1s"), time.Millisecond)
	wire := w.wire()
	wire.Send = func(ctx context.Context, subjects []Subject) []Observation {
		seen := w.send(ctx, subjects)
		for _, o := range seen {
			o.Header.Set("Ratelimit-Policy", "10;w=1, 6000;w=60")
		}
		return seen
	}
	r, err := Run(context.Background(), wire, Options{})
	if err != nil {
		t.Fatal(err)
	}
	notes := slices.DeleteFunc(slices.Clone(r.Notes), func(note string) bool { return !strings.HasPrefix(note, "a policy header states ") })
	if len(notes) != 1 || !strings.Contains(notes[0], "a quota of 6000 in 60 s, which was not reached (at most ") {
		t.Errorf("notes %q, want one, of the quota that was not reached", r.Notes)
	}
}

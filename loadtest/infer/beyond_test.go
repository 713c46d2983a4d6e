package infer

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// However soon the time is over, no more is said to have been sustained than the
// limiter that was found lets pass.
func TestBeyondAKnownLimiter_long(t *testing.T) {
	told := 0
	sustained := regexp.MustCompile(`^no slower limit was found at [\d.]+ requests/s for [\d.]+ s; a higher or slower limit`)
	for seed := range uint64(40) {
		w := newWorld(seed, mustParse(t, "fixed-window:20/1s"), time.Millisecond)
		r, err := Run(context.Background(), w.wire(Others()...), Options{MaxTime: 5*time.Second + time.Duration(seed)*250*time.Millisecond, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		if r.Beyond == nil {
			continue
		}
		told++
		if r.Beyond.SustainedPerSecond > 20 {
			t.Errorf("seed %d: %s", seed, r.Beyond.Why)
		}
		if !sustained.MatchString(r.Beyond.Why) {
			t.Errorf("seed %d: what was tried: %q", seed, r.Beyond.Why)
		}
	}
	if told == 0 {
		t.Error("nothing was said of slower layers: the test says nothing")
	}
}

// Answers that are neither served nor refused with 429 may be a limiter's doing.
func TestRefusalsInDisguise(t *testing.T) {
	w := newWorld(1, mustParse(t, "fixed-window:20/1s"), time.Millisecond)
	wire := w.wire()
	send := wire.Send
	wire.Send = func(ctx context.Context, subjects []Subject) []Observation {
		seen := send(ctx, subjects)
		for i := range seen {
			if seen[i].Status == http.StatusTooManyRequests {
				seen[i].Status = http.StatusServiceUnavailable
			}
		}
		return seen
	}
	r, err := Run(context.Background(), wire, Options{MaxRequests: 1000, MaxTime: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	// That it cannot be told is what an empty value says: the reason does not repeat it.
	if r.Verdict.Value != "" || !strings.Contains(r.Verdict.Why, "got neither a 2xx nor a 429") || strings.Contains(r.Verdict.Why, "cannot tell") || r.Beyond != nil {
		t.Errorf("verdict %+v, beyond %+v; want that it cannot be told", r.Verdict, r.Beyond)
	}
}

package loadtest

import (
	"testing"
	"time"
)

// Whatever --shard and --start-at say, they are read or refused.
func FuzzShardAndStart(f *testing.F) {
	for _, seed := range []string{"", "3/8", "index:2/8", "index:8/8", "0/1", "3/0", "a/b", "9999999999/1", "+5s", "+25h", "+-5s", "+1h/", "12:00", "2026-01-31T13:00:00+01:00", "2026-01-31T11:59:59Z"} {
		f.Add(seed)
	}
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := ParseShard(text); err == nil && text != "" && (s.Index < 0 || s.Index >= s.Of) {
			t.Errorf("%q is the shard %+v", text, s)
		}
		if at, err := ParseStart(text, now); err == nil && text != "" && (at.Before(now) || at.Sub(now) > 24*time.Hour) {
			t.Errorf("%q is %s", text, at)
		}
	})
}

func TestShardAndStart(t *testing.T) {
	for _, text := range []string{"3/8", "index:2/8"} {
		if s, err := ParseShard(text); err != nil || s.Index != 2 || s.Of != 8 {
			t.Errorf("%s: %+v, %v", text, s, err)
		}
	}
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{"+5s": 5 * time.Second, "2026-01-31T13:00:00+01:00": 0} {
		if at, err := ParseStart(text, now); err != nil || at.Sub(now) != want {
			t.Errorf("%s: %s, %v", text, at, err)
		}
	}
}

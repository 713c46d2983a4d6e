package api

import (
	"slices"
	"testing"
)

// FuzzCursorKind: whatever a server sends for a cursor has one kind.
func FuzzCursorKind(f *testing.F) {
	for _, seed := range []string{"", "01941f29-7c00-75a5-ad3c-4e22def4fc02", "2026-01-02T03:04:05.678Z", "a@b.example", "urn:uuid:x", "Jane <a@b.co>"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		kind := CursorKind(cursor)
		if !slices.Contains([]string{"UUID", "timestamp", "email address", "other"}, kind) {
			t.Errorf("%q is of the kind %q", cursor, kind)
		}
		if kind == "UUID" && len(cursor) != 36 {
			t.Errorf("%q is no UUID in its usual form", cursor)
		}
	})
}

// Any form of ISO 8601 with a date and a time is a timestamp. A date alone is none.
func TestFormsOfTimestamps(t *testing.T) {
	for cursor, want := range map[string]string{
		"2026-01-02T03:04:05.678Z": "timestamp", "2026-01-02T03:04:05,6+02:00": "timestamp", "2026-01-02T03:04:05": "timestamp",
		"2026-01-02T03:04Z": "timestamp", "20260102T030405Z": "timestamp", "20260102T0304+00": "timestamp", "2026-01-02T03:04:05+0200": "timestamp",
		"2026-01-02": "other", "1767323045": "other", "2026-01-02T25:04Z": "other",
	} {
		if kind := CursorKind(cursor); kind != want {
			t.Errorf("%s is of the kind %q, want %q", cursor, kind, want)
		}
	}
}

// FuzzCovers: comparing what a server shows never fails, and everything covers itself.
func FuzzCovers(f *testing.F) {
	f.Add(`{"a":[1,{"b":null}],"c":1e2}`)
	f.Fuzz(func(t *testing.T, text string) {
		matches := EqualJSON(map[string]any{"text": text})
		if ok, err := matches.Match(map[string]any{"text": text, "more": 1}); !ok || err != nil {
			t.Errorf("%q does not cover itself: %v", text, err)
		}
	})
}

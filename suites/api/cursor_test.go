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

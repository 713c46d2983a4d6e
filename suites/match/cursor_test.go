package match

import (
	"slices"
	"testing"
	"time"

	"outreach.example/conformance/internal/oracle"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

// TestCursorKinds: every UUID, timestamp and email address is told for what it is.
func TestCursorKinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds")).UTC()
		id := uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
		email := rapid.StringMatching(`[a-z]([.-]?[a-z0-9]){0,8}@[a-z]{1,8}\.example`).Draw(t, "email")
		for cursor, want := range map[string]string{
			id.String(): "UUID", oracle.Timestamp(at): "timestamp", at.Format(time.RFC3339Nano): "timestamp", email: "email address", "page-2": "other",
		} {
			if got := CursorKind(cursor); got != want {
				t.Fatalf("%q is a %s, not a %s", cursor, want, got)
			}
		}
	})
}

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

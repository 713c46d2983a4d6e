package refserver

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestIDsAscend: whatever the clock does.
func TestIDsAscend(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clock := int64(0)
		ids := &idSource{clock: func() time.Time { return time.UnixMilli(clock) }}
		last := ""
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			clock = rapid.Int64Range(0, 3).Draw(t, "clock")
			burst := rapid.SampledFrom([]int{1, 1, 2, 3, 5, 8, 13, maxCount + 2}).Draw(t, "burst")
			for range burst {
				id, at := ids.next()
				if normal, ok := parseUUID(id); !ok || normal != id || id[14] != '7' || strings.IndexByte("89ab", id[19]) < 0 {
					t.Fatalf("%s is no UUID of version 7", id)
				}
				if id <= last {
					t.Fatalf("%s after %s", id, last)
				}
				if prefix := sprint("%012x", at.UnixMilli()); strings.ReplaceAll(id[:13], "-", "") != prefix {
					t.Fatalf("%s does not carry its time %d", id, at.UnixMilli())
				}
				last = id
			}
		}
		ids.above("0fffffff-ffff-7fff-bfff-ffffffffffff")
		if id, _ := ids.next(); id <= "0fffffff-ffff-7fff-bfff-ffffffffffff" {
			t.Fatalf("%s is not above what was shown", id)
		}
	})
}

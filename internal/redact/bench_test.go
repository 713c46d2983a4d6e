package redact

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// results is JSON like that of a run, with curl lines and bodies.
func results(size int) []byte {
	var b strings.Builder
	b.WriteString(`{"checks": [`)
	for i := 0; b.Len() < size; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `
  {
    "requirement": "FIELD-%d", "operation": "inbox-placement-tests.list", "outcome": "fail",
    "actual": "\"%d\" at 2026-01-%02dT10:00:00.000Z",
    "curl": "curl -i -H \"Authorization: Bearer $OUTREACH_KEY_MAIN\" \"$OUTREACH_URL/api/v2/inbox-placement-tests?limit=%d\"",
    "body": "{\"id\":\"019322d1-e%03d-7000-8000-00000000%04d\",\"name\":\"caf\u00e9 %d\",\"status\":1}"
  }`, i, i, i%28+1, i, i%1000, i, i)
	}
	b.WriteString("\n]}\n")
	return []byte(b.String())
}

// manyKeys returns a set of n random keys.
func manyKeys(n int) *Set {
	s := NewSet()
	source := rand.New(rand.NewPCG(1, 2))
	for range n {
		s.Learn("ref_"+drawnToken(source), "")
	}
	return s
}

func drawnToken(source *rand.Rand) string {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	token := make([]byte, 43)
	for i := range token {
		token[i] = digits[source.IntN(len(digits))]
	}
	return string(token)
}

// What the gate costs a file, whatever the number of keys.
func BenchmarkContent(b *testing.B) {
	content := results(1 << 20)
	for _, keys := range []int{1, 30, 1000} {
		b.Run(fmt.Sprintf("keys=%d", keys), func(b *testing.B) {
			set := manyKeys(keys)
			b.SetBytes(int64(len(content)))
			for b.Loop() {
				set.Content(content)
			}
		})
	}
}

package truth

import (
	"bytes"
	"os"
	"runtime/metrics"
	"strconv"
)

// Memory is what the process uses, the generator too when it runs in the same one.
type Memory struct {
	HeapBytes int64 `json:"heap_bytes"`          // objects, the dead that are not yet collected included
	RSSBytes  int64 `json:"rss_bytes,omitempty"` // resident set; absent where the system does not tell
}

func readMemory() Memory {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	m := Memory{HeapBytes: int64(sample[0].Value.Uint64())}
	if text, err := os.ReadFile("/proc/self/statm"); err == nil { // Linux
		if fields := bytes.Fields(text); len(fields) > 1 {
			pages, _ := strconv.ParseInt(string(fields[1]), 10, 64)
			m.RSSBytes = pages * int64(os.Getpagesize())
		}
	}
	return m
}

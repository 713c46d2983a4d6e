package measure

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// The library's own reader reads the log back.
func TestHDRLog(t *testing.T) {
	samples := steady(100, 300, func(i int) time.Duration { return time.Duration(i+1) * time.Millisecond })
	samples[5].Status = 429
	start := time.UnixMilli(1_700_000_000_250)
	rec := record(Plan{Name: "mixed\n", Duration: 3 * time.Second, Start: start}, samples)
	var log bytes.Buffer
	if err := rec.WriteHDRLog(&log); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(log.String(), `#[phase "mixed\n",`) || !strings.Contains(log.String(), "#[Histogram log format version 1.3]\n") {
		t.Errorf("header:\n%.300s", log.String())
	}

	counts := map[string]int64{}
	var p90 int64
	reader := hdr.NewHistogramLogReader(&log)
	for {
		h, err := reader.NextIntervalHistogram()
		if err != nil {
			t.Fatal(err)
		}
		if h == nil {
			break
		}
		counts[h.Tag()] += h.TotalCount()
		if h.Tag() == "response.accepted" {
			p90 = h.ValueAtQuantile(90)
			if h.StartTimeMs() != start.UnixMilli() || h.EndTimeMs() != start.UnixMilli()+3000 {
				t.Errorf("the line spans %d to %d ms, want %d and three seconds", h.StartTimeMs(), h.EndTimeMs(), start.UnixMilli())
			}
		}
	}
	for tag, want := range map[string]int64{"response.accepted": 299, "service.accepted": 299, "interval.accepted": 299,
		"response.limited": 1, "service.limited": 1, "interval.limited": 1, "lag": 300} {
		if counts[tag] != want {
			t.Errorf("%s: %d values, want %d", tag, counts[tag], want)
		}
		delete(counts, tag)
	}
	if len(counts) > 0 {
		t.Errorf("lines that nobody asked for: %v", counts)
	}
	if want := rec.Response[Accepted].Value(0.9); p90 != int64(want) {
		t.Errorf("p90 is %d in the log, %d in the recording", p90, want)
	}
}

type full struct{ left int }

func (f *full) Write(p []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, errors.New("disk full")
	}
	return len(p), nil
}

func TestHDRLogReportsWriteErrors(t *testing.T) {
	rec := record(Plan{Name: "x"}, steady(10, 20, func(int) time.Duration { return time.Millisecond }))
	for writes := range 9 {
		if err := rec.WriteHDRLog(&full{writes}); err == nil || !strings.Contains(err.Error(), "disk full") {
			t.Errorf("after %d writes: error %v, want it to say that the disk is full", writes, err)
		}
	}
}

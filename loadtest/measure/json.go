package measure

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// file is a Recording in a file, from which the recordings of several processes can be
// merged.
type file struct {
	Counters
	Histograms []entry
}

// entry is a histogram in HdrHistogram's compressed V2 encoding.
type entry struct {
	key
	HDR string
}

// MarshalJSON writes the recording as UnmarshalJSON reads it: nothing is lost.
func (r Recording) MarshalJSON() ([]byte, error) {
	f := file{Counters: r.Counters}
	for _, k := range slices.SortedFunc(maps.Keys(r.histograms), key.compare) {
		text, err := r.histograms[k].buckets.Encode()
		if err != nil {
			return nil, err
		}
		f.Histograms = append(f.Histograms, entry{k, string(text)})
	}
	return json.Marshal(f)
}

// UnmarshalJSON reads the output of MarshalJSON. Unknown keys, contradictory counts and a
// plan out of bounds are errors.
func (r *Recording) UnmarshalJSON(data []byte) error {
	strict := json.NewDecoder(bytes.NewReader(data))
	strict.DisallowUnknownFields()
	var f file
	err := strict.Decode(&f)
	if err == nil {
		err = f.Plan.Validate()
	}
	if err == nil {
		*r, err = f.recording()
	}
	if err != nil {
		return fmt.Errorf("phase %q: %w", f.Name, err)
	}
	return nil
}

// recording returns the recording of a file whose plan is valid.
func (f file) recording() (Recording, error) {
	r := Recording{Counters: f.Counters}.empty()
	for _, e := range f.Histograms {
		read, err := hdr.DecodePacked([]byte(e.HDR))
		switch {
		case err != nil:
			return r, err
		case r.histograms[e.key] != nil || e.At < 0 || e.At > r.intervalOf(maxSeconds):
			return r, fmt.Errorf("the histogram %v is there twice, or too late", e.key)
		case read.SignificantFigures() != int64(e.figures()) || r.histogram(e.key).buckets.Merge(read) > 0:
			return r, fmt.Errorf("the histogram %v has unsupported buckets", e.key)
		}
	}
	r = r.finished()
	return r, r.check()
}

// check returns an error if counts that were read contradict each other.
func (r Recording) check() error {
	var statuses, done, negative int64
	for _, n := range r.Statuses {
		statuses, negative = statuses+n, min(negative, n)
	}
	for word, n := range r.Failures {
		if negative = min(negative, n); failureWord(word) != word {
			return fmt.Errorf("unknown failure %q", word)
		}
	}
	for _, s := range r.Seconds {
		done, negative = done+s.Accepted+s.Limited+s.Failed, min(negative, s.Sent, s.Accepted, s.Limited, s.Failed, s.BytesReceived)
	}
	if negative < 0 {
		return errors.New("a count is negative")
	}
	kinds := map[string]int64{}
	for k, h := range r.histograms {
		kinds[k.Kind] += h.Count()
	}
	for _, n := range []int64{statuses, done, kinds[lagKind], kinds[serviceKind], kinds[labelKind], kinds[intervalKind]} {
		if n != r.Sent {
			return fmt.Errorf("%d requests were sent, but %d are accounted for", r.Sent, n)
		}
	}
	return nil
}

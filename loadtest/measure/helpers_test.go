package measure

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"outreach.example/conformance/loadtest/schedule"
)

// steady returns samples of an accepted request every 1/rate seconds with the
// response time takes; nothing is sent late.
func steady(rate, n int, takes func(i int) time.Duration) []Sample {
	out := make([]Sample, n)
	for i := range out {
		due := time.Duration(i) * time.Second / time.Duration(rate)
		out[i] = Sample{Seq: uint64(i), Label: "list", Due: due, Sent: due, Done: due + takes(i), Status: 200, Bytes: 100}
	}
	return out
}

// Plan is a phase of one rate.
type Plan struct {
	Name     string
	Rate     float64
	Duration time.Duration
	Start    time.Time
	shard    schedule.Schedule // its place among the shards
}

func newRecorder(p Plan) *Recorder {
	plan := schedule.Constant(p.Rate, p.Duration)
	plan.Index, plan.Of = p.shard.Index, p.shard.Of
	return NewRecorder(p.Name, p.Start, plan)
}

func record(p Plan, samples []Sample) Recording {
	r := newRecorder(p)
	for _, s := range samples {
		r.Add(s)
	}
	return r.Recording()
}

// seeded returns a random generator with a fixed seed.
func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// noise returns an autoregressive series of unit variance whose memory fades in
// this many steps; with 0 its values are independent.
func noise(rng *rand.Rand, fades float64) func() float64 {
	keep := 0.0
	if fades > 0 {
		keep = math.Exp(-1 / fades)
	}
	z := rng.NormFloat64()
	return func() float64 {
		z = keep*z + math.Sqrt(1-keep*keep)*rng.NormFloat64()
		return z
	}
}

// encoded returns everything in a recording, for comparison.
func encoded(t interface{ Fatal(...any) }, r Recording) string {
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// phases draws a plan of some shards and the samples of each of them.
func phases(t *rapid.T) (Plan, [][]Sample) {
	shards := rapid.IntRange(1, 5).Draw(t, "shards")
	n := rapid.IntRange(0, 200).Draw(t, "samples")
	plan := Plan{Name: "mixed", Rate: 20, Duration: 10 * time.Second, Start: time.UnixMilli(1_700_000_000_123)}
	wait := rapid.OneOf(
		rapid.Int64Range(0, int64(5*time.Millisecond)),
		rapid.Int64Range(0, int64(3*time.Second)),
		rapid.Int64Range(0, int64(2*Longest)),
	)
	parts := make([][]Sample, shards)
	for i := range n {
		due := time.Duration(i) * time.Second / 20
		sent := due + time.Duration(rapid.Int64Range(-1000, int64(20*time.Millisecond)).Draw(t, "lag"))
		s := Sample{
			Seq: uint64(i), Due: due, Sent: sent, Done: sent + time.Duration(wait.Draw(t, "service")),
			Label:  fmt.Sprint("operation ", i%3),
			Status: rapid.SampledFrom([]int{200, 200, 201, 429, 500, 0}).Draw(t, "status"),
			Bytes:  rapid.Int64Range(0, 70_000).Draw(t, "bytes"),
		}
		if s.Status == 0 {
			s.Failure = rapid.SampledFrom([]string{FailureTimeout, FailureRefused, FailureReset, "odd"}).Draw(t, "failure")
		}
		parts[i%shards] = append(parts[i%shards], s)
	}
	return plan, parts
}

// shardOf returns shard i of n of the plan.
func shardOf(p Plan, i, n int) Plan {
	p.shard = schedule.Schedule{Index: i, Of: n}
	return p
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance {
		t.Errorf("%s is %v, want %v ± %v", what, got, want, tolerance)
	}
}

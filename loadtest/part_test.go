package loadtest_test

import (
	"bytes"
	"math"
	"outreach.example/conformance/loadtest/schedule"
	"slices"
	"strings"
	"testing"
	"time"

	"outreach.example/conformance/loadtest"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/threshold"
	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
)

// Parts that are not one complete run say nothing of the target. What does not fit is named
// by its shard and by where it was read.
func TestPartsThatDoNotFit(t *testing.T) {
	read := func(source string, p loadtest.Part) loadtest.Part {
		parts, err := loadtest.ReadParts(source, bytes.NewReader(line(t, p)))
		if err != nil {
			t.Fatal(err)
		}
		return parts[0]
	}
	one, two := read("one.json", part(t, 0, 2)), read("two.json", part(t, 1, 2))
	changed := func(change func(p *loadtest.Part)) []loadtest.Part {
		p := read("two.json", part(t, 1, 2))
		change(&p)
		return []loadtest.Part{p, one}
	}
	for name, tc := range map[string]struct {
		parts []loadtest.Part
		says  string
	}{
		"missing":        {[]loadtest.Part{two}, "shard 1 of 2 is missing"},
		"doubled":        {[]loadtest.Part{one, two, two}, "shard 2 of 2 is present twice"},
		"another seed":   {changed(func(p *loadtest.Part) { p.Results.Run.Seed++ }), "shard 2 (two.json:1) has different scenarios, settings or seed"},
		"another rate":   {changed(func(p *loadtest.Part) { p.Scenarios[0].Rate++ }), "different scenarios, settings"},
		"another target": {changed(func(p *loadtest.Part) { p.Results.Target.BaseURL = "http://elsewhere" }), "loaded http://elsewhere"},
		"another number": {changed(func(p *loadtest.Part) { p.Results.Run.Shard.Of = 5 }), "is of 2 shards, shard 2 (two.json:1) of 5"},
		"no such shard":  {changed(func(p *loadtest.Part) { p.Results.Run.Shard.Index = 9 }), "there is no shard 9 of 2"},
		"broken off":     {changed(func(p *loadtest.Part) { p.Outcomes = nil }), "stopped after"},
		"interrupted":    {changed(func(p *loadtest.Part) { p.Results.Run.Interrupted = true }), "interrupted"},
		"another start": {changed(func(p *loadtest.Part) { p.Outcomes[0].Recordings[0].Start = time.Unix(1, 0) }),
			"phase steady of reading began at 2001-09-09T01:46:40Z in shard 1 (one.json:1), at 1970-01-01T00:00:01Z in shard 2 (two.json:1) (give all shards the same --start-at)"},
		"a phase less": {changed(func(p *loadtest.Part) { p.Outcomes[0].Recordings = nil }), "phases"},
	} {
		o := loadtest.Merge(tc.parts, nil, nil)
		if reasons := strings.Join(o.Results.Reasons, "\n"); o.Results.Verdict != reports.Inconclusive || !strings.Contains(reasons, tc.says) {
			t.Errorf("%s: %s: %s; want %q", name, o.Results.Verdict, reasons, tc.says)
		}
	}
	if o := loadtest.Merge([]loadtest.Part{two, one}, nil, nil); o.Results.Verdict != reports.Passed || o.Results.Scenarios[0].Phases[0].Sent != 10 {
		t.Errorf("what fits: %s %q", o.Results.Verdict, o.Results.Reasons)
	}
}

// part is a small share of a run, made up.
func part(t testing.TB, index, of int) loadtest.Part { return latePart(t, index, of, 0) }

// latePart is a part whose requests all went out so much after they were due.
func latePart(t testing.TB, index, of int, lag time.Duration) loadtest.Part {
	t.Helper()
	s := reading(10, time.Second)
	recorder := measure.NewRecorder("steady", time.Unix(1e9, 0), schedule.Constant(10, time.Second))
	for n := range 10 / of {
		due := time.Duration(n*of+index) * 100 * time.Millisecond
		recorder.Add(measure.Sample{Seq: uint64(n*of + index), Label: "list", Due: due, Sent: due + lag, Done: due + lag + time.Millisecond, Status: 200})
	}
	o := verdict.Outcome{Recordings: []measure.Recording{recorder.Recording()}, Traffic: load.Traffic{Statuses: map[string]int64{"200": int64(10 / of)}}}
	o.Name = s.Name
	results := load.Results{Version: load.ModelVersion, Run: load.Run{Seed: 1, Shard: &load.Shard{Index: index + 1, Of: of}}, Scenarios: []load.Scenario{o.Scenario}}
	return loadtest.Part{Version: loadtest.PartVersion, Scenarios: []scenario.Scenario{s}, Results: results, Outcomes: []verdict.Outcome{o}}
}

func line(t testing.TB, p loadtest.Part) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := loadtest.WritePart(&b, loadtest.Outcome{Results: p.Results, Parts: p.Outcomes}, p.Scenarios, p.LagLimit); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// What lag is tolerated was said to the shards, and stands in their parts: the
// whole is judged by it.
func TestMergedLagCountsByTheLimitOfTheParts(t *testing.T) {
	const lag = 300 * time.Millisecond // 3 of 10 requests go out in the next second
	for name, tc := range map[string]struct {
		limits [2]time.Duration
		want   reports.Verdict
		says   string
	}{
		"none":      {[2]time.Duration{}, reports.Inconclusive, "steady: another load than requested: 30 % of the requests went out in another second than planned"},
		"above":     {[2]time.Duration{500 * time.Millisecond, 500 * time.Millisecond}, reports.Passed, ""},
		"different": {[2]time.Duration{500 * time.Millisecond, time.Second}, reports.Inconclusive, "settings or seed"},
	} {
		t.Run(name, func(t *testing.T) {
			var lines bytes.Buffer
			for i, limit := range tc.limits {
				p := latePart(t, i, 2, lag)
				p.LagLimit = limit
				lines.Write(line(t, p))
			}
			parts, err := loadtest.ReadParts("parts", &lines)
			if err != nil {
				t.Fatal(err)
			}
			o := loadtest.Merge(parts, nil, nil)
			if reasons := strings.Join(o.Results.Reasons, "\n"); o.Results.Verdict != tc.want || !strings.Contains(reasons, tc.says) {
				t.Errorf("%s: %q; want %s: %q", o.Results.Verdict, reasons, tc.want, tc.says)
			}
		})
	}
}

// A miss counts for nothing if the generator of a shard could hardly have sent more.
func TestMergedShardsCountByTheirOwnCeilings(t *testing.T) {
	for name, tc := range map[string]struct {
		ceilings [2]float64 // requests per second; each shard sends five
		want     reports.Verdict
		says     string
	}{
		"far":                  {[2]float64{1000, 1000}, reports.Failed, "max<1us missed"},
		"the second's is near": {[2]float64{1000, 5}, reports.Inconclusive, "but the generator was near its ceiling"},
	} {
		t.Run(name, func(t *testing.T) {
			quick, err := threshold.Parse("max<1us")
			if err != nil {
				t.Fatal(err)
			}
			parts := make([]loadtest.Part, 2)
			for i := range parts {
				parts[i] = part(t, i, 2)
				if tc.ceilings[i] > 0 {
					parts[i].Results.Calibration = &load.Calibration{CeilingPerSecond: tc.ceilings[i]}
				}
			}
			o := loadtest.Merge(parts, []threshold.Threshold{quick}, nil)
			if reasons := strings.Join(o.Results.Reasons, "\n"); o.Results.Verdict != tc.want || !strings.Contains(reasons, tc.says) {
				t.Errorf("%s: %q; want %s: %q", o.Results.Verdict, reasons, tc.want, tc.says)
			}
		})
	}
}

func TestDamagedPartsAreErrors(t *testing.T) {
	good := string(line(t, part(t, 0, 2)))
	replace := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("there is no %s in %s", old, good)
		}
		return strings.Replace(good, old, new, 1)
	}
	whole := part(t, 0, 2)
	whole.Results.Run.Shard = nil
	other := part(t, 0, 2)
	other.Results.Scenarios[0].Name = "another"
	for name, tc := range map[string]struct{ text, says string }{
		"nothing":                  {"\n\n", "parts: contains no part"},
		"broken off":               {good + good[:len(good)/2], "parts:2: "},
		"an unknown key":           {replace(`{"version"`, `{"extra":1,"version"`), `unknown field "extra"`},
		"another version":          {replace(`"version":"3"`, `"version":"99"`), `its version is "99"`},
		"something behind":         {strings.TrimSpace(good) + " {}\n", "trailing data"},
		"a whole run":              {string(line(t, whole)), "a whole run, not a shard"},
		"another's outcome":        {string(line(t, other)), `found the outcome of "another", want that of "reading"`},
		"a scenario that is wrong": {replace(`"Rate":10`, `"Rate":-10`), "rate"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := loadtest.ReadParts("parts", strings.NewReader(tc.text)); err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("got %v, want %q", err, tc.says)
			}
		})
	}
	if parts, err := loadtest.ReadParts("parts", strings.NewReader("\n"+good+"\n"+good)); err != nil || len(parts) != 2 {
		t.Errorf("%d parts, %v", len(parts), err)
	}
}

// Whatever the bytes are: what is accepted can be merged, judged and written again.
func FuzzReadParts(f *testing.F) {
	for i := range 2 {
		f.Add(line(f, part(f, i, 2)))
	}
	f.Add(slices.Concat(line(f, part(f, 1, 2)), line(f, part(f, 0, 2))))
	f.Add(line(f, part(f, 0, 1)))
	f.Add([]byte(`{"version":"3"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		parts, err := loadtest.ReadParts("fuzz", bytes.NewReader(data))
		if err != nil {
			return
		}
		o := loadtest.Merge(parts, nil, nil)
		if o.Results.Verdict == "" {
			t.Error("no verdict")
		}
		var sent int64
		for _, s := range o.Results.Scenarios {
			for _, p := range s.Phases {
				sent += p.Sent
			}
		}
		if sent < 0 || math.IsNaN(o.Results.Run.Seconds) {
			t.Errorf("sent %d", sent)
		}
		var again bytes.Buffer
		for _, p := range parts {
			if err := loadtest.WritePart(&again, loadtest.Outcome{Results: p.Results, Parts: p.Outcomes}, p.Scenarios, p.LagLimit); err != nil {
				t.Fatal(err)
			}
		}
		if read, err := loadtest.ReadParts("again", &again); err != nil || len(read) != len(parts) {
			t.Errorf("what was read cannot be read again: %d parts, %v", len(read), err)
		}
	})
}

package loadtest_test

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/loadtest/schedule"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/loadtest"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/threshold"
	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
)

// Four shards, each as a process of its own would be, come to the same as one
// run: every count exactly, the percentiles within the error.
func TestMergedShardsEqualOneRun_long(t *testing.T) {
	t.Parallel()
	server := served(t, "", "98%:2ms,2%:250ms")
	s := writing(140, 2*time.Second)
	s.Thresholds = []string{"errors<5%"}
	config := loadtest.Config{Target: server, Scenarios: []scenario.Scenario{s}, ByName: true, Seed: 7, Terms: verdict.Terms{LagLimit: time.Hour}, Calibrate: calibrated}
	run := func(config loadtest.Config) loadtest.Outcome {
		config.JournalDir = t.TempDir()
		o, err := loadtest.Run(t.Context(), config)
		if err != nil {
			t.Error(err)
		}
		if _, err := sandbox.Cleanup(t.Context(), testbed.Client(t, server), server.Profile, config.JournalDir, nil); err != nil {
			t.Error(err)
		}
		return o
	}
	whole := run(config)

	const shards = 4
	outcomes := make([]loadtest.Outcome, shards)
	// A busy machine may take longer to prepare all shards. Then they start later.
	for ahead := 5 * time.Second; ahead == 5*time.Second || slices.ContainsFunc(outcomes, startedLate); ahead *= 2 {
		config.Start = time.Now().Add(ahead)
		var all sync.WaitGroup
		for i := range shards {
			mine := config
			mine.Shard = measure.Shard{Index: i, Of: shards}
			all.Go(func() { outcomes[i] = run(mine) })
		}
		all.Wait()
	}
	forget(t, server)
	var lines bytes.Buffer
	for _, i := range []int{2, 0, 3, 1} { // the order does not matter
		if err := loadtest.WritePart(&lines, outcomes[i], config.Scenarios, config.LagLimit); err != nil {
			t.Fatal(err)
		}
	}
	parts, err := loadtest.ReadParts("parts", &lines)
	if err != nil {
		t.Fatal(err)
	}
	merged := loadtest.Merge(parts, nil, nil)
	if record := truthOf(t, server); record.Total > 0 {
		t.Errorf("merging has asked the server %d times", record.Total)
	}
	if whole.Results.Verdict != reports.Passed || merged.Results.Verdict == reports.Failed {
		t.Errorf("one run: %s %q; merged: %s %q", whole.Results.Verdict, whole.Results.Reasons, merged.Results.Verdict, merged.Results.Reasons)
	}
	if len(whole.Results.Scenarios) != 1 || len(merged.Results.Scenarios) != 1 || len(merged.Results.Scenarios[0].Phases) != 1 {
		t.Fatalf("one run: %q; merged: %q", whole.Results.Reasons, merged.Results.Reasons)
	}
	sameFigures(t, whole.Results.Scenarios[0].Phases[0], merged.Results.Scenarios[0].Phases[0])
	if got, want := fmt.Sprint(merged.Results.Traffic.Statuses), fmt.Sprint(whole.Results.Traffic.Statuses); got != want {
		t.Errorf("statuses of all traffic: %s, want %s", got, want)
	}
	t.Run("what does not fit", func(t *testing.T) { misfits(t, parts) })
}

// startedLate reports whether a shard was not prepared in time for its start.
func startedLate(o loadtest.Outcome) bool {
	return strings.Contains(strings.Join(o.Results.Reasons, " "), "should have started")
}

// sameFigures compares a phase with the same one, merged.
func sameFigures(t *testing.T, one, merged load.Phase) {
	t.Helper()
	if one.Planned != merged.Planned || one.Sent != merged.Sent || one.Sent == 0 || merged.RatePerSecond != one.RatePerSecond || !maps.Equal(one.Statuses, merged.Statuses) {
		t.Errorf("planned %d, sent %d at %v/s, %v; want %d, %d, %v/s, %v", merged.Planned, merged.Sent, merged.RatePerSecond, merged.Statuses,
			one.Planned, one.Sent, one.RatePerSecond, one.Statuses)
	}
	if len(one.Labels) != len(merged.Labels) {
		t.Fatalf("%d labels, want %d", len(merged.Labels), len(one.Labels))
	}
	for i, l := range one.Labels {
		if m := merged.Labels[i]; m.Name != l.Name || m.Accepted != l.Accepted || m.Failed != l.Failed || m.Limited != l.Limited {
			t.Errorf("label %+v, want %+v", m, l)
		}
	}
	var asked, of int64
	for _, second := range merged.Series {
		asked += second.Asked
	}
	for _, second := range one.Series {
		of += second.Asked
	}
	if asked != of {
		t.Errorf("%d requests in the seconds, want %d", asked, of)
	}
	for i, q := range one.Service.Accepted.Quantiles {
		m := merged.Service.Accepted.Quantiles[i]
		t.Logf("service p%g: %.3f ms, merged %.3f ms", 100*q.P, q.ValueMS, m.ValueMS)
		// Two runs of 280 requests: 5 or 6 of them are slow. The 2 ms and the 250 ms
		// are the server's own; what else there is, a busy machine adds.
		if slow := func(ms float64) bool { return ms > 125 }; slow(q.ValueMS) != slow(m.ValueMS) && !q.Flagged && !m.Flagged {
			t.Errorf("p%g is %.3f ms, want %.3f ms", 100*q.P, m.ValueMS, q.ValueMS)
		}
	}
}

// misfits are parts that do not make a whole: nothing can be said of the target.
func misfits(t *testing.T, parts []loadtest.Part) {
	changed := func(change func(p *loadtest.Part)) []loadtest.Part {
		p, err := loadtest.ReadParts("parts", bytes.NewReader(line(t, parts[1])))
		if err != nil {
			t.Fatal(err)
		}
		p[0].Source = parts[1].Source
		change(&p[0])
		return []loadtest.Part{parts[0], p[0], parts[2], parts[3]}
	}
	for name, tc := range map[string]struct {
		parts []loadtest.Part
		says  string
	}{
		"missing":         {parts[:3], "is missing"},
		"doubled":         {append(slices.Clone(parts), parts[2]), "is present twice"},
		"doubled instead": {[]loadtest.Part{parts[0], parts[1], parts[2], parts[2]}, "is present twice"},
		"another seed":    {changed(func(p *loadtest.Part) { p.Results.Run.Seed++ }), "settings or seed"},
		"another rate":    {changed(func(p *loadtest.Part) { p.Scenarios[0].Rate++ }), "different scenarios, settings"},
		"another target":  {changed(func(p *loadtest.Part) { p.Results.Target.BaseURL = "http://elsewhere" }), "loaded http://elsewhere"},
		"another number":  {changed(func(p *loadtest.Part) { p.Results.Run.Shard.Of = 5 }), "is of 5 shards, shard 2 (parts:4) of 4"},
		"no such shard":   {changed(func(p *loadtest.Part) { p.Results.Run.Shard.Index = 9 }), "there is no shard 9 of 4"},
		"broken off":      {changed(func(p *loadtest.Part) { p.Outcomes = nil }), "stopped after"},
		"interrupted":     {changed(func(p *loadtest.Part) { p.Results.Run.Interrupted = true }), "interrupted"},
		"another start":   {changed(func(p *loadtest.Part) { p.Outcomes[0].Recordings[0].Start = time.Unix(1, 0) }), "different start times"},
		"a phase less":    {changed(func(p *loadtest.Part) { p.Outcomes[0].Recordings = nil }), "phases"},
	} {
		t.Run(name, func(t *testing.T) {
			o := loadtest.Merge(tc.parts, nil, nil)
			if reasons := strings.Join(o.Results.Reasons, "\n"); o.Results.Verdict != reports.Inconclusive || !strings.Contains(reasons, tc.says) {
				t.Errorf("%s: %s; want %s and %q", o.Results.Verdict, reasons, reports.Inconclusive, tc.says)
			}
			body, err := load.Encode(o.Results)
			if err == nil {
				_, err = load.Parse(body)
			}
			if err != nil {
				t.Errorf("the results are not valid: %v", err)
			}
		})
	}
}

// What does not fit is named by its shard and by where it was read.
func TestMisfitsAreNamed(t *testing.T) {
	late, other := part(t, 1, 2), part(t, 1, 2)
	late.Outcomes[0].Recordings[0].Start = late.Outcomes[0].Recordings[0].Start.Add(30 * time.Second)
	other.Results.Run.Seed++
	for name, tc := range map[string]struct {
		second loadtest.Part
		says   string
	}{
		"another start": {late, "different start times: phase steady of reading began at 2001-09-09T01:46:40Z in shard 1 (one/part.json:1), " +
			"at 2001-09-09T01:47:10Z in shard 2 (two/part.json:1) (give all shards the same --start-at)"},
		"another seed": {other, "shard 2 (two/part.json:1) has different scenarios, settings or seed"},
	} {
		t.Run(name, func(t *testing.T) {
			var parts []loadtest.Part
			for source, p := range map[string]loadtest.Part{"one/part.json": part(t, 0, 2), "two/part.json": tc.second} {
				read, err := loadtest.ReadParts(source, bytes.NewReader(line(t, p)))
				if err != nil {
					t.Fatal(err)
				}
				parts = append(parts, read...)
			}
			o := loadtest.Merge(parts, nil, nil)
			if want := []string{"the parts are not one complete run: " + tc.says}; !slices.Equal(o.Results.Reasons, want) {
				t.Errorf("%q; want %q", o.Results.Reasons, want)
			}
		})
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
		"below":     {[2]time.Duration{200 * time.Millisecond, 200 * time.Millisecond}, reports.Inconclusive, "steady: another load"},
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
		"not known":            {[2]float64{0, 1000}, reports.Failed, "max<1us missed"},
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
		"not JSON":                 {"hello\n", "parts:1: "},
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

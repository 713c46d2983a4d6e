package selftest

import (
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/evidence"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
	"outreach.example/conformance/suites/runner"
	"outreach.example/conformance/suites/selftest/faults"
	"outreach.example/conformance/suites/traffic"
	"outreach.example/conformance/suites/tree"
)

var (
	judgeDefects = flag.Int("judge", 0, "judge the recorded traffic of runs against so many defects")
	judgeQuirks  = flag.Int("judge-quirks", 0, "judge the recorded traffic of runs against all quirks, so many of which a target has at the same time")
	judgeSeed    = flag.Uint64("judge-seed", 1, "draws the defects")
)

// notShown are the defects that traffic does not show, by requirement and id, with the reason. A
// recording proves nothing that a change of another client, or an open point, explains.
var notShown = []struct{ pattern, why string }{
	{"*-NO-EFFECT *", "another client may have made the change"},
	{"STATE-DELETE-OTHERS *", "another client may have deleted the rows"},
	{"ISOLATION-UNTOUCHED *", "another client may have deleted the row"},
	{"SCOPE-EFFECT *", "another client may have made or undone the change"},
	{"STATE-CREATE-* *does-not-list-a*", "another client may have deleted the test"},
	{"STATE-CREATE-* *does-not-find-a-test*", "another client may have deleted the test"},
	{"STATE-DELETE-ANSWER *name-cut-short", "another client may have renamed the row just before"},
	{"STATE-CREATE-NULL *", "a server may have another reason to refuse a creation, and null may stand for a default"},
	{"SCOPE-* *starting-after", "a server may refuse a cursor whose row is deleted"},
	{"FILTER-* *shows-no-new-test*", "another client may have deleted the test"},
	{"SCOPE-SAME-ROWS *a-row-more", "another client may have deleted the row just before"},
	{"STATE-CREATE-* *refuses-a-body*", "a server may have another reason to refuse a creation"},
	{"ERROR-401-* *unknown-key", "a key that the profile does not have may be one without a scope"},
}

// recorded judges what the specs of the plan send to a subject: by the run and by its recording.
func recorded(ctx context.Context, source Source, rules *judge.Rules, plan tree.Plan, onWire bool, apply func(*faults.Target) faults.Middleware) (run, byTraffic map[spec.Pair]reports.Check, err error) {
	s, err := source(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer s.release()
	s = s.with(apply, 1)
	var file bytes.Buffer
	config := runner.Config{Target: &target.Target{BaseURL: address, Profile: s.profile}, Seed: 1, Rules: rules, Evidence: evidence.NewRecorder(&file, "test", "1", profile.Shape)}
	if onWire {
		server := httptest.NewServer(faults.Listening(s.handler))
		defer server.Close()
		config.Target.BaseURL = server.URL
	} else {
		config.Transport = faults.RoundTripper(s.handler, "")
	}
	env, err := runner.NewEnv(config)
	if err != nil {
		return nil, nil, err
	}
	defer env.Client.Close()
	env.Budget = 0
	outcome, err := suites.Tree.Run(ctx, env, plan)
	if err != nil {
		return nil, nil, err
	}
	ledger, err := outcome.Ledger(spec.Pairs())
	if err != nil {
		return nil, nil, err
	}
	if err := config.Evidence.Close(nil); err != nil {
		return nil, nil, err
	}
	found, err := judgeRecording(&file, s.profile)
	return byPair(ledger.Checks()), byPair(found.Checks), err
}

// judgeRecording judges a recording as the command judge does.
func judgeRecording(file *bytes.Buffer, p *profile.Profile) (reports.Results, error) {
	j, err := traffic.New(p)
	if err != nil {
		return reports.Results{}, err
	}
	zip, err := gzip.NewReader(file)
	if err != nil {
		return reports.Results{}, err
	}
	if err := evidence.Read(zip, j.Add); err != nil {
		return reports.Results{}, err
	}
	return j.Results(), nil
}

func byPair(checks []reports.Check) map[spec.Pair]reports.Check {
	index := map[spec.Pair]reports.Check{}
	for _, c := range checks {
		index[spec.Pair{Requirement: c.Requirement, Operation: c.Operation}] = c
	}
	return index
}

// TestJudgeDefects counts the defects that the traffic of a run shows, and those that judge names.
func TestJudgeDefects(t *testing.T) {
	if *judgeDefects == 0 {
		t.Skip("-judge names no number of defects")
	}
	rules, err := judge.NewRules()
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	var lines []string
	var mu sync.Mutex
	short, whole := Embedded(ShortLists), Embedded(WholeLists)
	inParallel(sampleOfDefects(*judgeDefects), func(d faults.Defect) {
		run, found, err := recorded(t.Context(), short, rules, tree.Judging(d.Breaks), false, d.Apply)
		if err == nil && run[d.Breaks].Outcome != reports.Fail {
			run, found, err = recorded(t.Context(), whole, rules, tree.Judging(d.Breaks), false, d.Apply)
		}
		fate, why := "named", ""
		switch {
		case err != nil:
			fate, why = "trouble", err.Error()
		case run[d.Breaks].Outcome != reports.Fail:
			fate, why = "trouble", "the run did not name it"
		case found[d.Breaks].Outcome != reports.Fail:
			fate, why = "missed", fmt.Sprintf("%s; run: %s", found[d.Breaks].Outcome, firstViolation(run[d.Breaks]))
			for _, n := range notShown {
				if ok, _ := path.Match(n.pattern, d.Breaks.Requirement+" "+strings.ReplaceAll(d.ID, "/", " ")); ok {
					fate, why = "not shown", n.why
					break
				}
			}
		}
		mu.Lock()
		defer mu.Unlock()
		count[fate]++
		if fate != "named" {
			lines = append(lines, fmt.Sprintf("%s: %s × %s (%s): %s", fate, d.Breaks.Requirement, d.Breaks.Operation, d.ID, why))
		}
	})
	slices.Sort(lines)
	t.Log("\n" + strings.Join(lines, "\n"))
	all := count["named"] + count["missed"] + count["not shown"] + count["trouble"]
	shown := count["named"] + count["missed"]
	t.Logf("%d defects: %v; judge names %.1f %% of those that the traffic shows, %.1f %% are not shown", all, count, 100*float64(count["named"])/float64(max(1, shown)), 100*float64(count["not shown"])/float64(max(1, all)))
	if 100*count["named"] < 95*shown || 100*count["not shown"] > 15*all || count["trouble"] > 0 {
		t.Error("want 95 % of those that are shown, and at most 15 % that are not")
	}
}

func firstViolation(c reports.Check) string {
	v := c.Violations[0]
	return fmt.Sprintf("at %q expected %s, got %s (%s) %s", v.Pointer, v.Expected, v.Actual, v.Spec, v.Curl)
}

// sampleOfDefects draws defects: half of shape, status and errors, and half of what several exchanges
// or keys show.
func sampleOfDefects(n int) (sample []faults.Defect) {
	var alone, together []faults.Defect
	for _, d := range faults.Defects() {
		r, _ := spec.FindRequirement(d.Breaks.Requirement)
		switch {
		case r.Group == spec.GroupShape || r.Group == spec.GroupErrors && strings.HasPrefix(r.ID, "ERROR-"):
			alone = append(alone, d)
		case slices.Contains([]spec.Group{spec.GroupState, spec.GroupPages, spec.GroupFilters, spec.GroupIsolation}, r.Group), strings.HasPrefix(r.ID, "SCOPE-"):
			together = append(together, d)
		}
	}
	rng := rand.New(rand.NewPCG(*judgeSeed, 0))
	return append(draw(rng, alone, n/2), draw(rng, together, n-n/2)...)
}

// TestJudgeQuirks judges the traffic of a whole run against each quirk: nothing fails.
func TestJudgeQuirks(t *testing.T) {
	if *judgeQuirks == 0 {
		t.Skip("no -judge-quirks")
	}
	rules, err := judge.NewRules()
	if err != nil {
		t.Fatal(err)
	}
	short := Embedded(ShortLists)
	inParallel(faults.Groups(1, faults.Quirks(), *judgeQuirks), func(group []faults.Quirk) {
		q := faults.Combine(group...)
		_, found, err := recorded(t.Context(), short, rules, tree.Plan{}, q.OnWire, q.Apply)
		if err != nil {
			t.Error(q.ID, err)
		}
		t.Log("judged", len(group), q.ID)
		for p, c := range found {
			if c.Outcome == reports.Fail {
				t.Errorf("%s: %s %s", q.ID, pairName(p), firstViolation(c))
			}
		}
	})
}

func inParallel[T any](all []T, do func(T)) {
	work := make(chan T)
	var wait sync.WaitGroup
	for range 2 * runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for one := range work {
				do(one)
			}
		})
	}
	for _, one := range all {
		work <- one
	}
	close(work)
	wait.Wait()
}

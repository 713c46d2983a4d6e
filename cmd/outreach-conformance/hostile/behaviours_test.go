package hostile

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/spec"
)

var whole = flag.Bool("hostile", false, "run the program against every behaviour and in every environment")

// some are the behaviours that run in every test of this package: one of each class.
var some = []string{"transport/closes-within-body", "status/500", "encoding/brotli-of-plain", "json/nan", "pages/cursor-constant", "redirect/302-elsewhere",
	"timing/429-sometimes", "state/delete-does-nothing", "report/terminal-in-message", "keys/plain-in-errors"}

// The table is complete and says what it must.
func TestBehavioursAreDescribed(t *testing.T) {
	classes, names := map[string]int{}, map[string]bool{}
	for _, b := range All() {
		classes[b.Class()]++
		if names[b.Name] {
			t.Errorf("%s stands twice", b.Name)
		}
		names[b.Name] = true
		switch {
		case b.Doc == "", b.Why == "", len(b.Verdict.Codes) == 0:
			t.Errorf("%s lacks its description, its reason or its verdict", b.Name)
		case (b.Play == nil) == (b.Wire == nil):
			t.Errorf("%s has both or none of Play and Wire", b.Name)
		case slices.Contains(b.Verdict.Codes, exitFail) != (len(b.Verdict.Fails) > 0):
			t.Errorf("%s must name the requirements that fail", b.Name)
		}
	}
	want := []string{"encoding", "json", "keys", "pages", "redirect", "report", "state", "status", "timing", "transport"}
	if got := slices.Sorted(maps.Keys(classes)); !slices.Equal(got, want) {
		t.Errorf("the classes are %q, not %q", got, want)
	}
	if n := len(names); n < 150 {
		t.Errorf("%d behaviours, fewer than 150", n)
	}
	for _, name := range some {
		if !names[name] {
			t.Errorf("there is no behaviour %s", name)
		}
	}
}

// The built program survives each behaviour: its verdict is right, it stays within its
// bounds, shows no key, and changes nothing but its own rows.
func TestBehaviours(t *testing.T) {
	var summary table
	t.Cleanup(func() { t.Log(summary.String()) })
	t.Run("all", func(t *testing.T) {
		for _, b := range All() {
			if *whole || slices.Contains(some, b.Name) {
				t.Run(b.Name, func(t *testing.T) {
					t.Parallel()
					summary.add(b.Class(), b.Name, b.try(t))
				})
			}
		}
	})
}

// result is what a case came to.
type result struct {
	problems []string
	took     time.Duration
	peak     int // MiB
}

// try runs the program against the behaviour.
func (b Behaviour) try(t *testing.T) result {
	reference, err := NewReference()
	if err != nil {
		t.Fatal(err)
	}
	defer reference.Release()
	var strayed atomic.Int64
	address, stop, err := b.Listen(reference.Handler, func(*http.Request) { strayed.Add(1) })
	if err != nil {
		t.Fatal(err)
	}
	defer stop()

	before := reference.tests(t)
	args := b.Args
	if args == nil {
		args = listing
	}
	args = append(slices.Clone(args), "--target", address, "--target-profile", profileFile, "--output", resultsDir, "--verbose")
	if args[0] == "run" {
		args = append(args, "--format", "github", "--seed", "1")
	}
	if !slices.Contains(args, "--timeout") {
		args = append(args, "--timeout", "15s")
	}
	p := newProgram(t, reference, args...)
	e := p.run(t)
	problems := append(e.problems(t, reference.Keys), b.misjudged(t, e)...)
	most := b.MiB
	if most == 0 {
		most = DefaultMiB
	}
	if e.peak > most {
		problems = append(problems, fmt.Sprintf("%d MiB resident, more than %d", e.peak, most))
	}
	if n := strayed.Load(); n > 0 {
		problems = append(problems, fmt.Sprintf("%d requests went to another host or path", n))
	}
	problems = append(problems, b.harm(e, before, reference.tests(t))...)
	if len(problems) > 0 {
		t.Errorf("the server %s (%s)\n- %s\n%s", b.Doc, b.Why, strings.Join(problems, "\n- "), e)
	}
	return result{problems, e.took, e.peak}
}

// misjudged returns how the verdict differs from the one that the behaviour demands.
func (b Behaviour) misjudged(t *testing.T, e ended) (problems []string) {
	t.Helper()
	failed, says := e.outcome(t)
	if !slices.Contains(b.Verdict.Codes, e.code) {
		problems = append(problems, fmt.Sprintf("exit code %d, not %v", e.code, b.Verdict.Codes))
	}
	matches := func(id string) func(string) bool {
		return func(pattern string) bool { ok, _ := path.Match(pattern, id); return ok }
	}
	for _, id := range slices.Compact(slices.Sorted(slices.Values(failed))) {
		if !slices.ContainsFunc(b.Verdict.Fails, matches(id)) {
			problems = append(problems, id+" fails")
		}
	}
	if e.code == exitFail && len(failed) > 0 && len(b.Verdict.Fails) > 0 && !slices.ContainsFunc(failed, func(id string) bool { return matches(id)(b.Verdict.Fails[0]) }) {
		problems = append(problems, b.Verdict.Fails[0]+" does not fail")
	}
	if !strings.Contains(says, b.Verdict.Says) {
		problems = append(problems, fmt.Sprintf("nothing says %q", b.Verdict.Says))
	}
	return problems
}

// harm returns what the run did to rows that are not its own, and what it left.
func (b Behaviour) harm(e ended, before, after map[string]string) (problems []string) {
	for id, name := range before {
		if _, still := after[id]; !still {
			problems = append(problems, fmt.Sprintf("it deleted the row %s (%s), which is not its own", id, name))
		}
	}
	left := 0
	for id := range after {
		if _, old := before[id]; !old {
			left++
		}
	}
	switch said := strings.Contains(e.stderr, "left on the target") || strings.Contains(e.stdout, "left"); {
	case left > 0 && b.Leaves == "":
		problems = append(problems, fmt.Sprintf("%d rows are left on the target", left))
	case left > 0 && !said && !b.Hidden:
		problems = append(problems, fmt.Sprintf("%d rows are left on the target, and nothing says so", left))
	}
	return problems
}

// tests returns the placement tests of the main workspace, by id.
func (r Reference) tests(t *testing.T) map[string]string {
	t.Helper()
	key, _ := r.Profile.FullKey(dataset.Main)
	names, next := map[string]string{}, ""
	for {
		request := httptest.NewRequest(http.MethodGet, spec.MustOperation(spec.ListPlacementTests).Path+"?limit=100&starting_after="+next, nil)
		request.Header.Set("Authorization", "Bearer "+key.Token)
		var page struct {
			Items []struct{ ID, Name string } `json:"items"`
			Next  string                      `json:"next_starting_after"`
		}
		if err := json.Unmarshal(ask(r.Handler, request).body, &page); err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			names[item.ID] = item.Name
		}
		if next = page.Next; next == "" {
			return names
		}
	}
}

// table collects the results of cases for people.
type table struct {
	mu    sync.Mutex
	cases []entry
}

type entry struct {
	class, name string
	result
}

func (t *table) add(class, name string, r result) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cases = append(t.cases, entry{class, name, r})
}

func (t *table) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "\n%-14s %6s %12s %6s  %-44s %s\n", "class", "cases", "as expected", "not", "slowest", "largest")
	byClass := map[string][]entry{"all": t.cases}
	for _, c := range t.cases {
		byClass[c.class] = append(byClass[c.class], c)
	}
	line := func(class string) {
		cases := byClass[class]
		if len(cases) == 0 {
			return
		}
		wrong := len(slices.DeleteFunc(slices.Clone(cases), func(c entry) bool { return len(c.problems) == 0 }))
		slowest := slices.MaxFunc(cases, func(a, b entry) int { return int(a.took - b.took) })
		largest := slices.MaxFunc(cases, func(a, b entry) int { return a.peak - b.peak })
		fmt.Fprintf(&b, "%-14s %6d %12d %6d  %-44s %s\n", class, len(cases), len(cases)-wrong, wrong,
			fmt.Sprintf("%5.1f s %s", slowest.took.Seconds(), path.Base(slowest.name)), fmt.Sprintf("%4d MiB %s", largest.peak, path.Base(largest.name)))
	}
	for _, class := range slices.Sorted(maps.Keys(byClass)) {
		if class != "all" {
			line(class)
		}
	}
	line("all")
	for _, c := range slices.SortedFunc(slices.Values(t.cases), func(a, b entry) int { return strings.Compare(a.name, b.name) }) {
		if len(c.problems) > 0 {
			fmt.Fprintf(&b, "NOT AS EXPECTED  %s: %.300s\n", c.name, strings.Join(c.problems, "; "))
		}
	}
	return b.String()
}

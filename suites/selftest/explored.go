package selftest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/atomicfile"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/explore"
	"outreach.example/conformance/suites/runner"
	"outreach.example/conformance/suites/selftest/faults"
)

// Explored is what an exploration made of one defect or quirk.
type Explored struct {
	ID          string   `json:"id"`
	Requirement string   `json:"requirement,omitempty"` // that the defect breaks
	Operation   string   `json:"operation,omitempty"`
	Found       []string `json:"found"`              // violated requirements
	Requests    []string `json:"requests,omitempty"` // of the shortest case for the first of them
	Seconds     float64  `json:"seconds"`
}

// Explorations are the explorations of defects and quirks.
type Explorations struct {
	Duration time.Duration `json:"-"`
	Defects  []Explored    `json:"defects"`
	Quirks   []Explored    `json:"quirks"`
}

// WriteJSON writes the explorations for programs.
func (e Explorations) WriteJSON(path string) error {
	encoded, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(path, append(encoded, '\n'))
}

// Explore lays each of the list and state defects around a conforming target and explores
// it, without any spec of the suites, until it finds a violation or the time is over. It
// does the same with quirks, in which it must find none. The options select as for Run.
func Explore(ctx context.Context, o Options, duration time.Duration) (Explorations, error) {
	rules, err := judge.NewRules()
	if err != nil {
		return Explorations{}, err
	}
	all := Explorations{Duration: duration}
	defects, quirks := o.explorable()
	if len(defects)+len(quirks) == 0 {
		return all, fmt.Errorf("%w %q", ErrNothingTried, o.Faults)
	}
	all.Defects, all.Quirks = make([]Explored, len(defects)), make([]Explored, len(quirks))
	if o.Start != nil {
		o.Start(len(defects) + len(quirks))
	}
	work := newPool(ctx, o.Workers)
	for i, q := range quirks {
		work.do(func(ctx context.Context) error {
			found, err := exploreFault(ctx, o, rules, duration, q.Apply)
			found.ID = q.ID
			all.Quirks[i] = found
			o.done(q.ID, len(found.Found))
			return err
		})
	}
	for i, d := range defects {
		work.do(func(ctx context.Context) error {
			found, err := exploreFault(ctx, o, rules, duration, d.Apply)
			found.ID, found.Requirement, found.Operation = d.ID, d.Breaks.Requirement, d.Breaks.Operation
			all.Defects[i] = found
			o.done(d.ID, max(0, 1-len(found.Found)))
			return err
		})
	}
	return all, work.wait()
}

// explorable returns the defects of lists and of state that the options select, and the
// quirks.
func (o Options) explorable() ([]faults.Defect, []faults.Quirk) {
	defects := slices.DeleteFunc(faults.Defects(), func(d faults.Defect) bool {
		r, _ := spec.FindRequirement(d.Breaks.Requirement)
		return !slices.Contains([]spec.Group{spec.GroupPages, spec.GroupFilters, spec.GroupState}, r.Group) ||
			!o.wants(d.ID, d.Breaks.Requirement) || !o.Selection.Operation(d.Breaks.Operation)
	})
	quirks := slices.DeleteFunc(faults.Quirks(), func(q faults.Quirk) bool { return !o.wants(q.ID) })
	if o.Sample > 0 {
		rng := rand.New(rand.NewPCG(o.Seed, 0))
		share := max(1, o.Sample*len(quirks)/max(1, len(defects)))
		defects, quirks = draw(rng, defects, o.Sample), draw(rng, quirks, share)
	}
	return defects, quirks
}

// exploreFault explores a conforming target with a fault around it.
func exploreFault(ctx context.Context, o Options, rules *judge.Rules, duration time.Duration, apply func(*faults.Target) faults.Middleware) (Explored, error) {
	s, err := o.Source(ctx)
	if err != nil {
		return Explored{}, err
	}
	defer s.release()
	s = s.with(apply, o.Seed)
	env, err := runner.NewEnv(runner.Config{Target: &target.Target{BaseURL: address, Profile: s.profile}, Seed: o.Seed, Rules: rules,
		Transport: faults.RoundTripper(s.handler, "")})
	if err != nil {
		return Explored{}, err
	}
	defer env.Client.Close()
	env.Budget = 0
	began := time.Now()
	out, err := explore.Run(ctx, explore.Config{Env: env, Duration: duration, Seed: o.Seed, FirstOnly: true, Workers: 1,
		Selects: func(string) bool { return true }})
	found := Explored{Found: []string{}, Seconds: time.Since(began).Round(time.Millisecond).Seconds()}
	for _, f := range out.Found {
		found.Found = append(found.Found, pairName(f.Pair()))
		if found.Requests == nil {
			found.Requests = f.Requests
		}
	}
	for _, c := range out.Evidence.Checks() { // the first walks of the lists belong to no case
		if pair := (spec.Pair{Requirement: c.Requirement, Operation: c.Operation}); c.ViolationCount > 0 && !slices.Contains(found.Found, pairName(pair)) {
			found.Found = append(found.Found, pairName(pair))
		}
	}
	return found, err
}

// shortCase is how many requests a case may have to be short.
const shortCase = 3

// Summary says how many defects the explorations found, in one line, and names those that
// they did not find and the quirks in which they found something.
func (e Explorations) Summary() (line string, missed, alarms []string) {
	found, shrunk, short := 0, 0, 0
	for _, d := range e.Defects {
		if len(d.Found) == 0 {
			missed = append(missed, fmt.Sprintf("%s (%s on %s)", d.ID, d.Requirement, d.Operation))
			continue
		}
		found++
		if len(d.Requests) > 0 {
			shrunk++
		}
		if n := len(d.Requests); n > 0 && n <= shortCase {
			short++
		}
	}
	for _, q := range e.Quirks {
		for _, f := range q.Found {
			alarms = append(alarms, fmt.Sprintf("%s: %s", q.ID, f))
		}
	}
	line = fmt.Sprintf("%d of %d list and state defects found within %s (%.1f %%); %d of %d shortest cases have at most %d requests; %d of %d quirks raised an alarm",
		found, len(e.Defects), e.Duration, 100*float64(found)/float64(max(1, len(e.Defects))), short, shrunk, shortCase, countAlarmed(e.Quirks), len(e.Quirks))
	return line, missed, alarms
}

func countAlarmed(quirks []Explored) int {
	n := 0
	for _, q := range quirks {
		if len(q.Found) > 0 {
			n++
		}
	}
	return n
}

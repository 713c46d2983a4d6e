// Package certify decides whether recorded runs certify an implementation, writes their bundle, and
// judges a bundle again. It believes nothing in a bundle but the evidence.
//
// It sends no request to a target: others run the runs of Challenges.
package certify

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/runner"
)

// runs is the number of runs of a certification.
const runs = 3

// Challenges returns what the runs of a certification follow from. One of them, which the nonce
// chooses, looks like an ordinary client.
func Challenges(nonce string) []runner.Challenge {
	all := make([]runner.Challenge, runs)
	for i := range all {
		all[i] = runner.Challenge{Nonce: nonce, Run: i + 1}
	}
	chosen := sha256.Sum256([]byte("outreach-conformance ordinary " + nonce))
	all[int(chosen[0])%runs].Ordinary = true
	return all
}

// OrdinaryAgent is the User-Agent of the run that looks like an ordinary client.
const OrdinaryAgent = "python-requests/2.32.5"

// Run is a recorded run.
type Run struct {
	Results   reports.Results
	Recording runner.Recording
	Unread    string // why nobody can judge the recording again; empty if everybody can
}

// Decision is what runs show. They certify the implementation if nothing failed and nothing is
// missing.
type Decision struct {
	Level   string
	Failed  []string // in words
	Missing []string // in words, in the order in which a vendor supplies it
}

// Certifies reports whether the runs certify the implementation.
func (d Decision) Certifies() bool { return len(d.Failed)+len(d.Missing) == 0 }

// decide decides whether the runs certify the implementation at the level: full, or a set of
// requirements.
func decide(level string, all []Run) Decision {
	d := Decision{Level: level, Failed: failures(all)}
	missing := func(lacks bool, format string, args ...any) {
		if text := fmt.Sprintf(format, args...); lacks && !slices.Contains(d.Missing, text) {
			d.Missing = append(d.Missing, text)
		}
	}
	d.needChallenges(all, missing)
	for _, r := range all {
		t, run := r.Results.Target, r.Results.Run
		missing(t.Name == "" || t.Vendor == "" || t.Version == "", "name, vendor and version of the implementation in its target profile")
		missing(len(run.Operations) > 0, "all operations: the target profile lists only %s", strings.Join(run.Operations, ", "))
		missing(len(run.Omits) > 0, "the fields that the target profile omits: %s", strings.Join(run.Omits, ", "))
		missing(r.Results.ExpectedFailures > 0 || r.Results.Flaky != nil, "a target profile without expected failures")
		missing(run.Selection != "" || run.Profile != level, "runs of all checks of the level %s", level)
	}
	for _, r := range all {
		lacking := map[string]int{}
		for _, c := range r.Results.Checks {
			for _, input := range c.Missing {
				lacking[input]++
			}
			missing(c.Outcome == reports.Error, "an outcome of %s on %s, where the run had trouble", c.Requirement, c.Operation)
		}
		for _, input := range slices.SortedFunc(maps.Keys(lacking), func(a, b string) int {
			return cmp.Or(lacking[b]-lacking[a], strings.Compare(a, b))
		}) {
			missing(true, "%s (%d checks need it)", input, lacking[input])
		}
		missing(r.Unread != "", "a recording that can be judged again: %s", r.Unread)
		missing(r.Results.Run.Interrupted, "runs that were not interrupted")
		for _, t := range r.Results.Troubles {
			missing(true, "a run without trouble: %s: %s", t.Where, t.What)
		}
		missing(len(r.Results.Checks) != checksOf(level), "all %d checks of the level %s: a run has %d", checksOf(level), level, len(r.Results.Checks))
		commit := r.Results.Tool.Commit
		missing(commit == "" || strings.Contains(commit, "modified"), "a program that was built from a known commit, such as a release")
	}
	for _, r := range all[1:] {
		missing(identity(r) != identity(all[0]), "three runs of one implementation at one address, with one target profile")
	}
	for _, pair := range disagreements(all) {
		missing(true, "the same outcome in each run of %s", pair)
	}
	return d
}

func (d Decision) needChallenges(all []Run, missing func(bool, string, ...any)) {
	if len(all) != runs || all[0].Recording.Challenge == nil {
		missing(true, "the %d runs of certify", runs)
		return
	}
	for i, want := range Challenges(all[0].Recording.Challenge.Nonce) {
		got := all[i].Recording.Challenge
		missing(got == nil || *got != want || want.Explains(all[i].Recording) != nil, "runs that follow from one nonce, as those of certify")
		missing((agentOf(all[i].Recording) == OrdinaryAgent) != want.Ordinary, "one run with the User-Agent %s, and no other", OrdinaryAgent)
	}
}

// identity is what the runs of a certification have in common: the implementation, its address and its
// profile, without the User-Agent.
func identity(r Run) string {
	lines := slices.DeleteFunc(strings.Split(r.Recording.Profile, "\n"), func(line string) bool { return strings.HasPrefix(line, "user_agent:") })
	t := r.Results.Target
	return fmt.Sprintf("%q", append(lines, t.Name, t.Vendor, t.Version, t.BaseURL, t.Kind, r.Recording.Address, r.Recording.Kind))
}

// agentOf returns the User-Agent of the requests of a run.
func agentOf(r runner.Recording) string {
	p, err := r.TargetProfile()
	if err != nil {
		return ""
	}
	return cmp.Or(p.UserAgent, client.UserAgent)
}

// checksOf returns the number of checks of a level.
func checksOf(level string) int {
	pairs, err := runner.Selection{Profiles: []spec.Profile{spec.Profile(level)}}.Pairs()
	if err != nil {
		return -1
	}
	return len(pairs)
}

// outcomesOf returns the outcomes of each check in the runs, by its name.
func outcomesOf(all []Run) map[string][]reports.Outcome {
	of := map[string][]reports.Outcome{}
	for _, r := range all {
		for _, c := range r.Results.Checks {
			of[nameOf(c)] = append(of[nameOf(c)], c.Outcome)
		}
	}
	return of
}

// failures names each check that failed in a run, and each expectation that is no longer true.
func failures(all []Run) (failed []string) {
	in := map[string][]string{}
	for i, r := range all {
		for _, c := range r.Results.Checks {
			if c.Outcome == reports.Fail {
				in[nameOf(c)] = append(in[nameOf(c)], fmt.Sprint(i+1))
			}
		}
		for _, stale := range r.Results.StaleExpectations {
			in[stale] = append(in[stale], fmt.Sprint(i+1))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		failed = append(failed, fmt.Sprintf("%s (in run %s)", name, strings.Join(in[name], ", ")))
	}
	return failed
}

// disagreements names the checks with different outcomes. Those that failed are failures.
func disagreements(all []Run) (differ []string) {
	for name, outcomes := range outcomesOf(all) {
		if !slices.Contains(outcomes, reports.Fail) && len(slices.Compact(outcomes)) > 1 {
			differ = append(differ, name)
		}
	}
	slices.Sort(differ)
	return differ
}

func nameOf(c reports.Check) string { return c.Requirement + " on " + c.Operation }

// Resemblance returns how much of what two implementations do where the specification is silent
// is the same: from 0 to 1. It says nothing, 0, if one of them did nothing. The texts of messages are
// easy to change, so what remains without them counts if it is more.
func Resemblance(a, b []reports.Observation) float64 {
	silent := func(list []reports.Observation) []reports.Observation {
		return slices.DeleteFunc(slices.Clone(list), func(o reports.Observation) bool { return o.OpenPoint == spec.OpenPointMessages })
	}
	return max(resemblance(a, b), resemblance(silent(a), silent(b)))
}

func resemblance(a, b []reports.Observation) float64 {
	type seen struct{ openPoint, operation, value string }
	of := map[seen]int{}
	for i, list := range [][]reports.Observation{a, b} {
		for _, o := range list {
			of[seen{o.OpenPoint, o.Operation, o.Value}] |= 1 << i
		}
	}
	both := 0
	for _, in := range of {
		if in == 3 {
			both++
		}
	}
	if len(of) == 0 {
		return 0
	}
	return float64(both) / float64(len(of))
}

// resembles is the resemblance from which an implementation is probably the other one.
const resembles = 0.8

// catalogueDigest returns the SHA-256 digest of the catalogue of requirements in hex.
func catalogueDigest() string {
	h := sha256.New()
	for _, r := range spec.Requirements() {
		_, _ = fmt.Fprintf(h, "%q\n", []any{r.ID, r.Group, r.Level, r.Section, r.Statement})
	}
	for _, p := range spec.Pairs() {
		_, _ = fmt.Fprintf(h, "%q\n", []any{p.Requirement, p.Operation})
	}
	return hex.EncodeToString(h.Sum(nil))
}

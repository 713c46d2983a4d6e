package certify

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"outreach.example/conformance/internal/evidence"
	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/bundle"
	"outreach.example/conformance/reports/jsonfile"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/runner"
)

// lines compares what a bundle says with what its evidence shows.
type lines struct{ bundle.Lines }

// compare adds a line: whether the two are equal.
func (l *lines) compare(what, claimed, found string) {
	l.compareAs(bundle.Refuted, what, claimed, found)
}

// compareAs is compare for a difference that means no more than the state.
func (l *lines) compareAs(different bundle.State, what, claimed, found string) {
	if claimed == found {
		l.Add(what, bundle.OK, "%s", claimed)
		return
	}
	l.Add(what, different, "the bundle says %q, the evidence shows %q", clip(claimed), clip(found))
}

// agree is compareAs for values of which the reader needs only what they say.
func (l *lines) agree(different bundle.State, what, says string, claimed, found any) {
	if a, b := textOf(claimed), textOf(found); a != b {
		l.compareAs(different, what, a, b)
		return
	}
	l.Add(what, bundle.OK, "%s", says)
}

func clip(text string) string {
	const most = 200
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}

// Judged is a run whose recording was judged again.
type Judged struct {
	Claimed reports.Results
	Found   runner.Again
}

// maxReplays is how often a recording is judged that does not fit. On a busy machine, two specs of a
// replay may see things in another order than those of the run. A recording that somebody has
// changed fits no replay, for a reason that they share.
const maxReplays = 3

// judgeAgain judges the recording until a replay sends its requests.
func judgeAgain(ctx context.Context, open func() (io.ReadCloser, error), version string) (found runner.Again, err error) {
	shared := map[string]int{} // how many replays each difference is in
	for i := range maxReplays {
		recording, err := open()
		if err != nil {
			return found, err
		}
		found, err = runner.JudgeAgain(ctx, recording, version)
		if err = errors.Join(err, recording.Close()); err != nil || found.Fits() || ctx.Err() != nil {
			return found, err
		}
		for n, list := range [][]string{found.Missing, found.Left} {
			for _, request := range list {
				if key := fmt.Sprint(n, request); shared[key] == i {
					shared[key]++
				}
			}
		}
	}
	if !slices.Contains(slices.Collect(maps.Values(shared)), maxReplays) {
		found.Bounded = cmp.Or(found.Bounded, "each replay met other differences: this machine may be too busy")
	}
	return found, nil
}

// VerifyRun judges a recorded run again, and compares what its results claim. Its error means that the
// recording cannot be read.
func VerifyRun(ctx context.Context, claimed reports.Results, open func() (io.ReadCloser, error), version string) (Judged, bundle.Lines, error) {
	found, err := judgeAgain(ctx, open, version)
	if err != nil {
		return Judged{}, nil, err
	}
	j, l := Judged{claimed, found}, lines{}
	f := found.Results
	l.compare("run", claimed.Run.ID, f.Run.ID)
	l.compare("date", claimed.Run.Started.UTC().String(), f.Run.Started.UTC().String())
	l.Report("times", j.checkTimes(), "the exchanges took place within the run")
	l.Report("User-Agent", j.checkAgent(), "%s", agentOf(found.Recording))
	l.compare("seed", fmt.Sprint(claimed.Run.Seed), fmt.Sprint(f.Run.Seed))
	l.compare("selection", selectionOf(claimed), selectionOf(f))
	l.compare("target", targetOf(claimed), targetOf(f))
	doubt := j.doubt(version)
	refutes := bundle.Refuted
	if doubt != "" {
		refutes = bundle.CannotTell
	}
	requests := fmt.Sprintf("%s sent again, %s that the evidence lacks, %s of the evidence that nothing asks for",
		printable.Number(f.Traffic.Requests), printable.Number(len(found.Missing)), printable.Number(len(found.Left)))
	if found.Fits() {
		l.Add("requests", bundle.OK, "%s", requests)
	} else {
		l.Add("requests", refutes, "the evidence does not fit: %s", requests).More = slices.Concat(found.Missing, found.Left)
	}
	same, unknown, differ := compareOutcomes(claimed, f)
	state := bundle.OK
	if len(differ) > 0 {
		state = refutes
	}
	l.Add("outcomes", state, "%s of %s follow from the evidence", printable.Number(same), printable.Counted(len(claimed.Checks), "check")).More = differ
	if len(unknown) > 0 {
		l.Add("outcomes", bundle.CannotTell, "%s cannot be judged again: their specs send requests that the evidence lacks", printable.Counted(len(unknown), "check")).More = unknown
	}
	if found.Fits() && len(claimed.Regressions) == 0 { // these compare with another run
		l.compareAs(refutes, "verdict", string(claimed.Verdict), string(f.Verdict))
	}
	if doubt != "" {
		l.Add("doubt", bundle.Note, "%s", doubt)
	}
	if found.Fits() {
		l.compareObservations(refutes, claimed.Observations, f.Observations)
		l.agree(refutes, "levels", "they follow from the outcomes", claimed.Levels, f.Levels)
	}
	return j, l.Lines, nil
}

// observedAnew is the share of the observations that may differ if the same server is observed again.
const observedAnew = 0.05

// compareObservations adds a line: whether the observations follow from the evidence. A few depend on
// the moment at which a response is looked at.
func (l *lines) compareObservations(different bundle.State, claimed, found []reports.Observation) {
	state, alike := bundle.OK, resemblance(claimed, found)
	if alike < 1-observedAnew && len(claimed)+len(found) > 0 {
		state = different
	}
	l.Add("observations", state, "%.0f %% of what the results say of the silences of the specification follows from the evidence", 100*alike)
}

// checkTimes returns an error unless the exchanges took place within the run, which began when its id
// says.
func (j Judged) checkTimes() error {
	const slack = 2 * time.Second // between clocks of one machine
	a, run := j.Found, j.Claimed.Run
	end := run.Started.Add(time.Duration(run.Seconds * float64(time.Second)))
	switch begun, err := uuid.Parse(a.ID); {
	case err != nil:
		return fmt.Errorf("the id of the run: %w", err)
	case !a.First.IsZero() && (a.First.Before(run.Started.Add(-slack)) || a.Last.After(end.Add(slack))):
		return fmt.Errorf("exchanges from %s to %s, in a run from %s to %s", a.First.Format(time.DateTime), a.Last.Format(time.DateTime), run.Started.Format(time.DateTime), end.Format(time.DateTime))
	case begun.Version() == 7:
		seconds, nanoseconds := begun.Time().UnixTime()
		if at := time.Unix(seconds, nanoseconds); at.Sub(run.Started).Abs() > slack {
			return fmt.Errorf("the id of the run is of %s, and it started at %s", at.UTC().Format(time.DateTime), run.Started.UTC().Format(time.DateTime))
		}
	}
	return nil
}

// checkAgent returns an error unless all requests have the User-Agent of the profile.
func (j Judged) checkAgent() error {
	for _, agent := range j.Found.Agents {
		if agent != agentOf(j.Found.Recording) {
			return fmt.Errorf("requests have %q, the profile says %q", agent, agentOf(j.Found.Recording))
		}
	}
	return nil
}

// doubt says why honest evidence may not fit; empty if it must.
func (j Judged) doubt(version string) string {
	switch run := j.Claimed.Run; {
	case j.Claimed.Tool.Version != version:
		return fmt.Sprintf("version %s recorded the run, and this is %s: its specs may send other requests", j.Claimed.Tool.Version, version)
	case run.Interrupted:
		return "the run was interrupted"
	case len(j.Claimed.Troubles) > 0:
		return "the run had trouble with the target"
	}
	return j.Found.Bounded
}

// Verify judges the runs of a bundle again, and checks everything else in it against them.
// It also returns the results of the runs by the evidence.
func Verify(ctx context.Context, b *bundle.Bundle, o bundle.Options, version string, reference []reports.Observation) (found bundle.Lines, all []Run) {
	l := lines{b.Check(o)}
	if m := b.Manifest; o.Level != "" && !(m.Certificate && slices.Contains([]string{o.Level, string(spec.ProfileFull)}, m.Level)) {
		l.Add("level", bundle.Refuted, "the bundle does not certify the level %s", o.Level)
	}
	sameVersion := b.Manifest.Program.Version == version
	for i := range b.Manifest.Runs {
		j, lines, err := verifyRun(ctx, b, i+1, version)
		for _, line := range lines {
			line.What = fmt.Sprintf("run %d: %s", i+1, line.What)
			l.Lines = append(l.Lines, line)
		}
		if err != nil {
			state := bundle.Refuted
			if errors.Is(err, evidence.ErrTooLarge) {
				state = bundle.CannotTell
			}
			l.Add(fmt.Sprintf("run %d", i+1), state, "%v", err)
			continue
		}
		found := j.Found.Results
		found.Tool = j.Claimed.Tool
		all = append(all, Run{Results: found, Recording: j.Found.Recording})
		claimed := runOf(Run{Results: j.Claimed, Recording: j.Found.Recording})
		l.agree(bundle.Refuted, fmt.Sprintf("run %d: manifest", i+1), "date, settings, verdict and counts are those of the run", b.Manifest.Runs[i], claimed)
		l.compare(fmt.Sprintf("run %d: program", i+1), programOf(bundle.ProgramOf(j.Claimed.Tool.Version, j.Claimed.Tool.Commit, nil), j.Claimed.Tool.Go),
			programOf(b.Manifest.Program, b.Manifest.Program.Go))
		if sameVersion {
			page, err := reportOf(j.Claimed)
			l.same(b, bundle.InRun(i+1, bundle.ReportFile), "the results", page, err)
		}
	}
	if len(all) == len(b.Manifest.Runs) {
		l.verifyManifest(b, all, sameVersion, reference)
	}
	return l.Lines, all
}

func programOf(p bundle.Program, goVersion string) string {
	return fmt.Sprintf("%s, commit %q, modified %v, %s", p.Version, p.Commit, p.Modified, goVersion)
}

func verifyRun(ctx context.Context, b *bundle.Bundle, number int, version string) (j Judged, l bundle.Lines, err error) {
	claimed, err := Claimed(b, number)
	if err != nil {
		return j, l, err
	}
	return VerifyRun(ctx, claimed, func() (io.ReadCloser, error) { return b.Open(bundle.InRun(number, bundle.EvidenceFile)) }, version)
}

// Claimed returns what a bundle says of a run.
func Claimed(b *bundle.Bundle, number int) (r reports.Results, err error) {
	body, err := b.Content(bundle.InRun(number, bundle.ResultsFile))
	if err != nil {
		return r, err
	}
	return jsonfile.Run.Parse(body)
}

// verifyManifest compares the manifest and the files that belong to no run with what the evidence
// shows.
func (l *lines) verifyManifest(b *bundle.Bundle, all []Run, sameVersion bool, reference []reports.Observation) {
	m := b.Manifest
	d := decide(m.Level, all)
	want := manifestOf(d, all, Options{Level: m.Level, Nonce: m.Nonce, Program: m.Program, Created: m.Created, Expires: m.Expires})
	l.agree(bundle.Refuted, "implementation", strings.TrimSpace(m.Implementation.Name+" "+m.Implementation.Version+" by "+m.Implementation.Vendor), m.Implementation, want.Implementation)
	l.agree(bundle.Refuted, "checks", fmt.Sprintf("%d passed in all runs", len(m.Tests.Passed)), m.Tests, want.Tests)
	if sameVersion {
		l.compare("catalogue", m.Catalogue, want.Catalogue)
		l.compare("OpenAPI document", m.OpenAPI, want.OpenAPI)
	} else {
		l.Add("program", bundle.CannotTell, "version %s made the bundle, and this is another one: it cannot make the same pages and digests", m.Program.Version)
	}
	l.verifyNonce(m, all)
	missing := slices.Concat(d.Failed, d.Missing)
	switch {
	case m.Certificate && d.Certifies():
		l.Add("certificate", bundle.OK, "the evidence meets what certify requires of the level %s", m.Level)
	case m.Certificate && sameVersion:
		l.Add("certificate", bundle.Refuted, "the evidence does not meet what certify requires of the level %s", m.Level).More = missing
	case m.Certificate:
		l.Add("certificate", bundle.CannotTell, "this version requires more than the evidence shows").More = missing
	default:
		l.Add("certificate", bundle.Note, "the bundle is not a certificate").More = missing
	}
	l.same(b, bundle.ProfileFile, "the evidence", []byte(all[0].Recording.Profile), nil)
	resemblance := resemblanceOf(all, reference)
	if sameVersion {
		page, badge, err := show(d, m, claimedResemblance(b, d, m, resemblance))
		l.same(b, bundle.PageFile, "the evidence", page, err)
		l.same(b, bundle.BadgeFile, "the evidence", badge, err)
	}
	l.Add("fingerprint", bundle.Note, "where the specification is silent, %.0f %% of the behaviour is that of our reference server%s", 100*resemblance,
		map[bool]string{true: ": this is probably that server"}[resemblance >= resembles])
	if year := all[len(all)-1].Results.Run.Started.AddDate(1, 0, 1); m.Expires.After(year) {
		l.Add("expiry", bundle.Note, "the vendor chose more than one year")
	}
	names := timed()
	l.Add("times", bundle.Note, "a recording only claims them: %d of %d checks rest on times", len(names), len(spec.Pairs())).More = names
}

// claimedResemblance returns the resemblance to the reference server that the page of the bundle shows, if
// it is that of the evidence as far as observations of the same server may differ; else that of the
// evidence.
func claimedResemblance(b *bundle.Bundle, d Decision, m bundle.Manifest, found float64) float64 {
	claimed, _ := b.Content(bundle.PageFile)                                        // an error shows when the page is compared
	for share := found - observedAnew; share < found+observedAnew; share += 0.005 { // the page shows whole percents
		if page, _, err := show(d, m, share); err == nil && bytes.Equal(page, claimed) {
			return share
		}
	}
	return found
}

// verifyNonce checks that all runs follow from the nonce of the manifest.
func (l *lines) verifyNonce(m bundle.Manifest, all []Run) {
	if m.Nonce == "" {
		return
	}
	var wrong error
	for i, want := range Challenges(m.Nonce)[:min(runs, len(all))] {
		wrong = errors.Join(wrong, want.Explains(all[i].Recording))
	}
	l.Report("challenge", wrong, "seeds, ids and names of all runs follow from the nonce")
}

// same adds a line: whether a file of the bundle is what this program makes of the evidence.
func (l *lines) same(b *bundle.Bundle, name, from string, want []byte, err error) {
	body, unread := b.Content(name)
	if err = errors.Join(err, unread); err == nil && !bytes.Equal(body, want) {
		err = fmt.Errorf("it does not follow from %s", from)
	}
	l.Report(name, err, "it follows from %s", from)
}

// textOf returns the value as JSON.
func textOf(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func selectionOf(r reports.Results) string {
	text := strings.TrimSpace("profile " + r.Run.Profile + " " + r.Run.Selection)
	if len(r.Run.Operations) > 0 {
		text += ", operations " + strings.Join(r.Run.Operations, " ")
	}
	if len(r.Run.Omits) > 0 {
		text += ", without the fields " + strings.Join(r.Run.Omits, " ")
	}
	return text
}

func targetOf(r reports.Results) string {
	return fmt.Sprintf("%s %s by %s at %s", r.Target.Name, r.Target.Version, r.Target.Vendor, r.Target.BaseURL)
}

// compareOutcomes counts the checks with the same outcome, and names the others. unknown are those
// whose specs got no recorded response.
func compareOutcomes(claimed, found reports.Results) (same int, unknown, differ []string) {
	index := map[string]reports.Outcome{}
	for _, c := range found.Checks {
		index[nameOf(c)] = c.Outcome
	}
	for _, c := range claimed.Checks {
		name := nameOf(c)
		if outcome, judged := index[name]; !judged {
			differ = append(differ, fmt.Sprintf("%s: the results say %s, the recorded run has no such check", name, c.Outcome))
		} else if outcome == reports.Error && c.Outcome != reports.Error {
			unknown = append(unknown, name)
		} else if outcome != c.Outcome {
			differ = append(differ, fmt.Sprintf("%s: the results say %s, the evidence shows %s", name, c.Outcome, outcome))
		} else {
			same++
		}
		delete(index, name)
	}
	for name, outcome := range index {
		differ = append(differ, fmt.Sprintf("%s: the results leave it out, the evidence shows %s", name, outcome))
	}
	slices.Sort(differ)
	return same, unknown, differ
}

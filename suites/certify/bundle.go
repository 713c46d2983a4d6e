package certify

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/internal/evidence"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/bundle"
	"outreach.example/conformance/reports/jsonfile"
	"outreach.example/conformance/reports/view"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/runner"
)

// Options say what a bundle holds beside the runs.
type Options struct {
	Level     string
	Nonce     string // that the recipient chose; empty if the vendor did
	Program   bundle.Program
	Created   time.Time
	Expires   time.Time          // zero for one year after the last run
	Key       ed25519.PrivateKey // nil for a bundle without signature
	Reference []reports.Observation
}

// Write writes the bundle of the recorded runs in the directories, and returns what they show.
func Write(to io.Writer, dirs []string, o Options) (d Decision, err error) {
	var all []Run
	files := map[string]bundle.Source{}
	for i, dir := range dirs {
		r, err := readRun(dir)
		if err != nil {
			return d, err
		}
		all = append(all, r)
		results, err := jsonfile.Run.Encode(r.Results)
		if err != nil {
			return d, err
		}
		page, err := reportOf(r.Results)
		if err != nil {
			return d, err
		}
		files[bundle.InRun(i+1, bundle.ResultsFile)] = bundle.Bytes(results)
		files[bundle.InRun(i+1, bundle.ReportFile)] = bundle.Bytes(page)
		files[bundle.InRun(i+1, bundle.EvidenceFile)] = bundle.Path(filepath.Join(dir, bundle.EvidenceFile))
	}
	d = decide(o.Level, all)
	m := manifestOf(d, all, o)
	page, badge, err := show(d, m, resemblanceOf(all, o.Reference))
	if err != nil {
		return d, err
	}
	files[bundle.ProfileFile] = bundle.Bytes([]byte(all[0].Recording.Profile))
	files[bundle.PageFile], files[bundle.BadgeFile] = bundle.Bytes(page), bundle.Bytes(badge)
	return d, bundle.Write(to, m, files, o.Key)
}

// readRun returns the recorded run in the directory.
func readRun(dir string) (r Run, err error) {
	if r.Results, err = jsonfile.Run.Read(filepath.Join(dir, bundle.ResultsFile)); err != nil {
		return r, err
	}
	file, err := os.Open(filepath.Join(dir, bundle.EvidenceFile))
	if err != nil {
		return r, fmt.Errorf("%w (run --evidence writes it)", err)
	}
	defer func() { _ = file.Close() }()
	if r.Recording, err = runner.ReadRecording(file); err != nil {
		return r, fmt.Errorf("%s: %w", file.Name(), err)
	}
	if _, err = file.Seek(0, io.SeekStart); err != nil {
		return r, err
	}
	if _, unread := evidence.Open(file); unread != nil {
		r.Unread = unread.Error()
	}
	return r, nil
}

// resemblanceOf returns the most that a run resembles the reference server.
func resemblanceOf(all []Run, reference []reports.Observation) (most float64) {
	for _, r := range all {
		most = max(most, Resemblance(r.Results.Observations, reference))
	}
	return most
}

func reportOf(results reports.Results) ([]byte, error) {
	var page bytes.Buffer
	err := view.Formats["html"].Run(&page, results, view.Options{})
	return page.Bytes(), err
}

// manifestOf returns the manifest of the runs, which follows from them, from the decision and the
// options.
func manifestOf(d Decision, all []Run, o Options) bundle.Manifest {
	target := all[0].Results.Target
	document := sha256.Sum256(schemas.OpenAPI())
	m := bundle.Manifest{Certificate: d.Certifies(), Level: o.Level, Program: o.Program, Nonce: o.Nonce, Created: o.Created.UTC(), Expires: o.Expires,
		Implementation: bundle.Implementation{Vendor: target.Vendor, Name: target.Name, Version: target.Version},
		Catalogue:      catalogueDigest(), OpenAPI: hex.EncodeToString(document[:]), Tests: testsOf(all)}
	for _, r := range all {
		m.Runs = append(m.Runs, runOf(r))
	}
	if m.Expires.IsZero() {
		m.Expires = m.Runs[len(m.Runs)-1].Started.AddDate(1, 0, 0)
	}
	return m
}

func runOf(r Run) bundle.Run {
	counts := map[string]int{}
	for _, c := range r.Results.Checks {
		counts[string(c.Outcome)]++
	}
	return bundle.Run{ID: r.Results.Run.ID, Started: r.Results.Run.Started.UTC(), Seed: r.Results.Run.Seed, Settings: settingsOf(r.Recording),
		Verdict: string(r.Results.Verdict), Counts: counts}
}

// settingsOf returns the settings of a run that affect its verdict.
func settingsOf(r runner.Recording) map[string]any {
	all := map[string]any{"target": r.Address, "selection": strings.Join(slices.Concat(r.Profiles, r.Operations, r.Requirements, r.Groups), " ")}
	if r.Challenge != nil {
		all["nonce"], all["run"], all["ordinary"] = r.Challenge.Nonce, r.Challenge.Run, r.Challenge.Ordinary
	}
	if p, err := r.TargetProfile(); err == nil {
		all["visible_within"], all["timeout"], all["patience"] = p.Visibility().String(), p.Pace.Timeout.String(), p.Pace.Patience.String()
		all["requests_per_second"], all["concurrency"], all["budget"] = p.Pace.RequestsPerSecond, p.Pace.Concurrency, p.Budget
		all["writes"], all["user_agent"] = p.Writes, p.UserAgent
	}
	return all
}

// testsOf sorts the checks by the worst outcome that they had in a run.
func testsOf(all []Run) (t bundle.Tests) {
	of := outcomesOf(all)
	lists := []*[]string{&t.Passed, &t.Warned, &t.NotAssessed, &t.NotAssessed, &t.Failed}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		worst := 0
		for _, outcome := range of[name] {
			worst = max(worst, slices.Index(byBadness, outcome))
		}
		*lists[worst] = append(*lists[worst], name)
	}
	return t
}

var byBadness = []reports.Outcome{reports.Pass, reports.ExpectedFailure, reports.NotAssessed, reports.Error, reports.Fail}

// timed returns the checks whose outcome rests on times, which a recording only claims.
func timed() (names []string) {
	for _, p := range spec.Pairs() {
		if r, _ := spec.FindRequirement(p.Requirement); r.Group == spec.GroupRate {
			names = append(names, p.Requirement+" on "+p.Operation)
		}
	}
	return names
}

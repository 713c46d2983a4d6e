package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/disk"
	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/bundle"
	"outreach.example/conformance/reports/jsonfile"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/certify"
	"outreach.example/conformance/suites/runner"
)

const (
	certifyCommand  = "certify"
	certifiedOutput = "certification"
)

// certifiedFiles are what certify writes: one that ends early must not leave those of another.
// The page marks the others as ours.
var certifiedFiles = []string{bundle.PageFile, certify.BundleFile, bundle.BadgeFile}

type certifyOptions struct {
	runOptions
	certify.Settings
}

func newCertify() *cobra.Command {
	f := &certifyOptions{runOptions{session: at(certifiedOutput), Evidence: true}, certify.Settings{Level: string(spec.ProfileFull)}}
	return command(&cobra.Command{
		Use:   certifyCommand,
		Short: "Certify an implementation: three recorded runs, a decision and a bundle",
		Long: `certify judges a target three times, decides whether that certifies it, and writes a
bundle that anybody can check with report verify: results, evidence, a page and a badge.

All requests follow from a nonce. If the recipient of the certificate chooses it, nobody
can have recorded the evidence before. One of the runs looks like an ordinary client.

A certificate needs all checks of its level to pass in each run: no omitted fields, no
expected failures, nothing that was not assessed, no trouble. certify says what is
missing. It exits 0 if the target is certified, 1 if a check failed and 3 if something is
missing. The bundle is written whatever the decision is.`,
		Example: `  outreach-conformance certify --target-profile server.yaml --nonce 5b1c9f0e --signing-key vendor-key.pem
  outreach-conformance certify --target-profile server.yaml --level read`,
	}, f, targetFlags+` rows
Certificate: level signing-key expires nonce
Pace and safety:`+paceFlags+`
Output: output quiet`, f.certify, "{nonce}", " (default: drawn, and the certificate says so)")
}

func (f *certifyOptions) certify(ctx context.Context, _ []string) error {
	if err := disk.Forget(f.Output, certifiedFiles...); err != nil {
		return err
	}
	o, err := f.Options(version(), commit())
	if err != nil {
		return err
	}
	if err := f.prepare(nil, certifiedFiles...); err != nil {
		return err
	}
	nonce := cmp.Or(f.Nonce, rand.Text())
	redact.Process.Public(nonce)
	t, stop, err := f.open(ctx)
	if err != nil {
		return err
	}
	defer stop()
	dirs, err := f.threeRuns(ctx, t, nonce, f.Level)
	if err != nil {
		return err
	}
	if o.Reference, err = certify.Reference(ctx, version()); err != nil {
		return cannotTell(err)
	}
	d, err := f.writeBundle(dirs, o)
	switch {
	case err != nil:
		return err
	case len(d.Failed) > 0:
		return exitError{reports.Failed.ExitCode(), errors.New("not certified: checks failed"), true}
	case len(d.Missing) > 0:
		return cannotTell(fmt.Errorf("not certified: %s missing", printable.Counted(len(d.Missing), "input")))
	}
	f.print("✓ CERTIFIED at the level %s\n", d.Level)
	return nil
}

// threeRuns judges the target as the challenges of the nonce want, and returns the directories of the
// runs.
func (f *runOptions) threeRuns(ctx context.Context, t *target.Target, nonce, level string) (dirs []string, err error) {
	agent, challenges := t.Profile.UserAgent, certify.Challenges(nonce)
	for _, challenge := range challenges {
		run := *f
		run.Output = filepath.Join(f.Output, "runs", fmt.Sprint(challenge.Run))
		if err := errors.Join(disk.Forget(run.Output, verdictFiles...), run.prepare(nil, resultsFile, evidenceFile)); err != nil {
			return nil, err
		}
		t.Profile.UserAgent = agent
		if challenge.Ordinary {
			t.Profile.UserAgent = certify.OrdinaryAgent
		}
		config := f.challenged(t, challenge, spec.Profile(level))
		config.JournalDir = f.journals(t) // cleanup looks there
		results, err := run.recorded(ctx, config)
		if err != nil {
			return nil, unjudgedError(err)
		}
		f.printLeftovers(t, results.Run.ID)
		if err := jsonfile.Run.Write(filepath.Join(run.Output, resultsFile), results); err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, interrupted
		}
		f.say(fmt.Sprintf("run %d of %d: %s", challenge.Run, len(challenges), results.Word()))
		dirs = append(dirs, run.Output)
	}
	return dirs, nil
}

// challenged returns the configuration of a run that follows from the challenge.
func (f *runOptions) challenged(t *target.Target, c runner.Challenge, levels ...spec.Profile) runner.Config {
	return runner.Config{Target: t, Selection: runner.Selection{Profiles: levels}, Challenge: &c, Version: version(), Commit: commit()}
}

// writeBundle writes the bundle of the runs in the directories, and says what they show.
func (s *session) writeBundle(dirs []string, o certify.Options) (certify.Decision, error) {
	path := filepath.Join(s.Output, certify.BundleFile)
	d, err := certify.WriteFiles(path, dirs, o)
	if err != nil {
		return d, err
	}
	for _, part := range []struct {
		heading string
		lines   []string
	}{{"what failed", d.Failed}, {"what a certificate needs", d.Missing}} {
		if len(part.lines) > 0 {
			s.print("%s:\n", part.heading)
			s.sayFirst(part.lines)
		}
	}
	s.print("bundle: %s\n", printable.Text(path))
	return d, nil
}

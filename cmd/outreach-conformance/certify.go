package main

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/atomicfile"
	"outreach.example/conformance/internal/inputfile"
	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/bundle"
	"outreach.example/conformance/reports/jsonfile"
	"outreach.example/conformance/reports/outputdir"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/certify"
	"outreach.example/conformance/suites/runner"
)

const (
	bundleFile      = "bundle.zip"
	certifiedOutput = "certification"
)

// bundleFlags say what a bundle holds beside its runs.
type bundleFlags struct {
	level   string
	nonce   string
	key     string
	expires string
}

func (b *bundleFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&b.level, "level", string(spec.ProfileFull), fmt.Sprintf("set of requirements that the bundle is about: %v", spec.Profiles()))
	flags.StringVar(&b.key, "signing-key", "", "PEM file with the vendor's private ed25519 key, which signs the bundle")
	flags.StringVar(&b.expires, "expires", "", "last day of the bundle, as YYYY-MM-DD (default: one year after the run)")
}

// options returns what the flags say. It reads the key.
func (b bundleFlags) options() (o certify.Options, err error) {
	info, ok := debug.ReadBuildInfo()
	o = certify.Options{Level: b.level, Nonce: b.nonce, Program: bundle.ProgramOf(version(), commit(info, ok), info)}
	if _, err := (runner.Selection{Profiles: []spec.Profile{spec.Profile(b.level)}}).Pairs(); err != nil {
		return o, fmt.Errorf("--level: %w", err)
	}
	if b.nonce != "" && !plainNonce.MatchString(b.nonce) {
		return o, errors.New("--nonce: want at most 100 letters, digits, dots, dashes and underscores")
	}
	if b.expires != "" {
		last, err := time.Parse(time.DateOnly, b.expires)
		if err != nil {
			return o, fmt.Errorf("--expires %s: want a day such as %s", b.expires, time.Now().AddDate(1, 0, 0).Format(time.DateOnly))
		}
		o.Expires = last.AddDate(0, 0, 1)
	}
	if b.key != "" {
		o.Key, err = readKey(b.key, bundle.PrivateKey)
	}
	return o, err
}

var plainNonce = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)

func readKey[K ed25519.PrivateKey | ed25519.PublicKey](path string, parse func([]byte) (K, error)) (key K, err error) {
	const most = 64 << 10
	text, err := inputfile.Read(path, most)
	if err == nil {
		if key, err = parse(text); err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}
	return key, err
}

type certifyFlags struct {
	runFlags
	bundle bundleFlags
}

func newCertify() *cobra.Command {
	f := certifyFlags{runFlags: runFlags{evidence: true}}
	cmd := &cobra.Command{
		Use:   "certify",
		Short: "Certify an implementation: three recorded runs, a decision and a bundle",
		Long: `certify judges a target three times, decides whether that certifies it, and writes a
bundle that anybody can check with report verify: results, evidence, a page and a badge.

All requests follow from a nonce. If the recipient of the certificate chooses it, nobody
can have recorded the evidence before. One of the runs looks like an ordinary client.

A certificate needs all checks of its level to pass in each run: no omitted fields, no
expected failures, nothing that was not assessed, no trouble. certify says what is
missing. It exits 0 if the target is certified, 1 if a check failed and 3 if something is
missing. The bundle is written in any case.`,
		Example: `  outreach-conformance certify --target-profile server.yaml --nonce 5b1c9f0e --signing-key vendor-key.pem
  outreach-conformance certify --target-profile server.yaml --level read`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.certify(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	group(flags, "Target", func() {
		f.registerTarget(flags)
		flags.IntVar(&f.rows, "rows", dataset.DefaultOptions().Rows, rowsUsage)
	})
	group(flags, "Certificate", func() {
		f.bundle.register(flags)
		flags.StringVar(&f.bundle.nonce, "nonce", "", "text that the recipient of the certificate chose (default: drawn, and the certificate says so)")
	})
	group(flags, "Pace and safety", func() { f.registerPace(flags) })
	group(flags, "Output", func() {
		registerOutput(flags, &f.output, certifiedOutput)
		flags.BoolVarP(&f.quiet, "quiet", "q", false, "show only failures and the last line, and no progress")
	})
	return cmd
}

func (f certifyFlags) certify(ctx context.Context, stdout, stderr io.Writer) error {
	options, err := f.bundle.options()
	if err != nil {
		return exitError{exitUsage, err}
	}
	if err := outputdir.Prepare(f.output, bundleFile, bundle.PageFile, bundle.BadgeFile); err != nil {
		return exitError{exitUsage, fmt.Errorf("output directory: %w", err)}
	}
	nonce := f.bundle.nonce
	if nonce == "" {
		nonce = rand.Text()
	}
	redact.Process.Public(nonce)
	t, stop, err := f.start(ctx, stderr)
	if err != nil {
		return err
	}
	defer stop()
	dirs, err := f.threeRuns(ctx, t, nonce, stderr)
	if err != nil {
		return err
	}
	if options.Reference, err = referenceObservations(ctx); err != nil {
		return exitError{exitCannotTell, err}
	}
	d, err := writeBundle(filepath.Join(f.output, bundleFile), dirs, options, stdout)
	switch {
	case err != nil:
		return err
	case len(d.Failed) > 0:
		return exitError{reports.Failed.ExitCode(), errors.New("not certified: checks failed")}
	case len(d.Missing) > 0:
		return exitError{exitCannotTell, fmt.Errorf("not certified: %s missing", printable.Counted(len(d.Missing), "input"))}
	}
	_, err = fmt.Fprintf(stdout, "✓ CERTIFIED at the level %s\n", d.Level)
	return err
}

// threeRuns judges the target as the challenges of the nonce want, and returns the directories of the
// runs.
func (f certifyFlags) threeRuns(ctx context.Context, t *target.Target, nonce string, stderr io.Writer) (dirs []string, err error) {
	agent := t.Profile.UserAgent
	for _, challenge := range certify.Challenges(nonce) {
		run := f.runFlags
		run.output = filepath.Join(f.output, "runs", fmt.Sprint(challenge.Run))
		if err := outputdir.Prepare(run.output, resultsFile, evidenceFile); err != nil {
			return nil, exitError{exitUsage, fmt.Errorf("output directory: %w", err)}
		}
		t.Profile.UserAgent = agent
		if challenge.Ordinary {
			t.Profile.UserAgent = certify.OrdinaryAgent
		}
		config := challenged(t, challenge, spec.Profile(f.bundle.level))
		config.JournalDir = run.journals(t)
		results, err := run.recorded(config, func(config runner.Config) (reports.Results, error) { return run.judge(ctx, config, stderr) })
		if err != nil {
			return nil, exitError{unjudgedCode(err), err}
		}
		run.printLeftovers(t, results.Run.ID, stderr)
		if err := jsonfile.Run.Write(filepath.Join(run.output, resultsFile), results); err != nil {
			return nil, exitError{exitUsage, err}
		}
		if ctx.Err() != nil {
			return nil, interrupted
		}
		say(stderr, fmt.Sprintf("run %d of %d: %s", challenge.Run, len(certify.Challenges(nonce)), results.Word()))
		dirs = append(dirs, run.output)
	}
	return dirs, nil
}

// challenged returns the configuration of a run that follows from the challenge.
func challenged(t *target.Target, c runner.Challenge, levels ...spec.Profile) runner.Config {
	return runner.Config{Target: t, Selection: runner.Selection{Profiles: levels}.For(t.Profile), Challenge: &c, Version: version(), Commit: commit(debug.ReadBuildInfo())}
}

// referenceObservations returns what the reference server does where the specification is silent.
func referenceObservations(ctx context.Context) ([]reports.Observation, error) {
	t, err := target.Embedded(ctx, dataset.DefaultOptions(), refserver.Options{})
	if err != nil {
		return nil, err
	}
	results, err := runner.Run(ctx, runner.Config{Target: t, Seed: 1, Version: version()})
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	return results.Observations, errors.Join(err, t.Close(closing))
}

// writeBundle writes the bundle of the runs in the directories, its page and its badge, and says what
// they show.
func writeBundle(path string, dirs []string, o certify.Options, stdout io.Writer) (d certify.Decision, err error) {
	o.Created = time.Now()
	err = atomicfile.Replace(path, func(temporary string) error {
		file, err := os.Create(temporary)
		if err != nil {
			return err
		}
		d, err = certify.Write(file, dirs, o)
		return errors.Join(err, file.Close())
	})
	if err != nil {
		return d, exitError{exitUsage, err}
	}
	b, err := bundle.Open(path)
	if err != nil {
		return d, exitError{exitUsage, err}
	}
	defer func() { _ = b.Close() }()
	for _, name := range []string{bundle.PageFile, bundle.BadgeFile} {
		content, err := b.Content(name)
		if err == nil {
			err = atomicfile.Write(filepath.Join(filepath.Dir(path), name), redact.Process.Content(content))
		}
		if err != nil {
			return d, exitError{exitUsage, err}
		}
	}
	for _, part := range []struct {
		heading string
		lines   []string
	}{{"what failed", d.Failed}, {"what a certificate needs", d.Missing}} {
		if len(part.lines) > 0 {
			_, _ = fmt.Fprintf(stdout, "%s:\n", part.heading)
			sayFirst(stdout, part.lines)
		}
	}
	_, err = fmt.Fprintf(stdout, "bundle: %s\n", printable.Text(path))
	return d, err
}

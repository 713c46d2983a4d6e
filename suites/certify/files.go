package certify

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/disk"
	"outreach.example/conformance/internal/evidence"
	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/bundle"
	"outreach.example/conformance/reports/earlier"
	"outreach.example/conformance/reports/jsonfile"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/runner"
)

// BundleFile is the usual name of a bundle.
const BundleFile = "bundle.zip"

// Settings say what a bundle holds beside its runs, with their flags.
type Settings struct {
	Level   string `flag:"level" usage:"set of requirements that the bundle must certify: {profiles}"`
	Key     string `flag:"signing-key" usage:"PEM file with the vendor's private ed25519 key, which signs the bundle"`
	Expires string `flag:"expires" usage:"last day of the bundle, as YYYY-MM-DD (default: one year after the run)"`
	Nonce   string `flag:"nonce" usage:"text that the recipient of the certificate chose{nonce}"`
}

// Options returns what the settings say of a bundle that the program writes. It reads the key.
func (b Settings) Options(version, commit string) (o Options, err error) {
	info, _ := debug.ReadBuildInfo() // a binary has it
	o = Options{Level: b.Level, Nonce: b.Nonce, Program: bundle.ProgramOf(version, commit, info)}
	if _, err := (runner.Selection{Profiles: []spec.Profile{spec.Profile(b.Level)}}).Pairs(); err != nil {
		return o, fmt.Errorf("--level: %w", err)
	}
	if b.Nonce != "" && !plainNonce.MatchString(b.Nonce) {
		return o, errors.New("--nonce: want at most 100 letters, digits, dots, dashes and underscores")
	}
	if b.Expires != "" {
		last, err := time.Parse(time.DateOnly, b.Expires)
		if err != nil {
			return o, fmt.Errorf("--expires %s: want a day such as %s", b.Expires, time.Now().AddDate(1, 0, 0).Format(time.DateOnly))
		}
		o.Expires = last.AddDate(0, 0, 1)
	}
	if b.Key != "" {
		o.Key, err = ReadKey(b.Key, bundle.PrivateKey)
	}
	return o, err
}

var plainNonce = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)

// ReadKey reads a PEM file with a key.
func ReadKey[K ed25519.PrivateKey | ed25519.PublicKey](path string, parse func([]byte) (K, error)) (key K, err error) {
	const most = 64 << 10
	text, err := disk.Read(path, most)
	if err == nil {
		if key, err = parse(text); err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}
	return key, err
}

// Reference returns what the reference server does where the specification is silent.
func Reference(ctx context.Context, version string) ([]reports.Observation, error) {
	t, err := target.Embedded(ctx, dataset.DefaultOptions(), refserver.Options{})
	if err != nil {
		return nil, err
	}
	results, err := runner.Run(ctx, runner.Config{Target: t, Seed: 1, Version: version})
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return results.Observations, errors.Join(err, t.Close(closing))
}

// WriteFiles writes the bundle of the runs in the directories, and its page and its badge beside it.
func WriteFiles(path string, dirs []string, o Options) (d Decision, err error) {
	o.Created = time.Now()
	err = disk.Stream(path, func(w io.Writer) error {
		d, err = Write(w, dirs, o)
		return err
	})
	if err != nil {
		return d, err
	}
	b, err := bundle.Open(path)
	if err != nil {
		return d, err
	}
	defer func() { _ = b.Close() }()
	for _, name := range []string{bundle.PageFile, bundle.BadgeFile} {
		content, err := b.Content(name)
		if err == nil {
			err = disk.Write(filepath.Join(filepath.Dir(path), name), redact.Process.Content(content))
		}
		if err != nil {
			return d, err
		}
	}
	return d, nil
}

// VerifyDirectory judges the recorded run in an output directory again.
func VerifyDirectory(ctx context.Context, dir, version string) (bundle.Lines, error) {
	claimed, err := jsonfile.Run.Read(filepath.Join(dir, earlier.RunFile))
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, bundle.EvidenceFile)
	recording, err := disk.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w (run --evidence writes it)", err)
	}
	_ = recording.Close()
	_, lines, err := VerifyRun(ctx, claimed, func() (io.ReadCloser, error) { return disk.Open(path) }, version)
	if errors.Is(err, evidence.ErrTooLarge) {
		return bundle.Lines{{What: "evidence", State: bundle.CannotTell, Why: err.Error()}}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return lines, nil
}

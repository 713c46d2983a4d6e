package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"

	"github.com/spf13/cobra"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/view"
	"outreach.example/conformance/suites/selftest"
)

type selftestOptions struct {
	session
	selftest.Options
}

func newSelftest() *cobra.Command {
	f := &selftestOptions{at(defaultOutput), selftest.Options{Together: 4, Seed: 1}}
	return command(&cobra.Command{
		Use:   "selftest",
		Short: "Prove that every check can fail and has no false positives",
		Long: `selftest runs the suites against a conforming target, against every quirk (legal
behaviour, which must pass) and against every defect. A defect breaks one
requirement on one operation and must be caught for that reason. selftest prints
the proven checks and writes the kill matrix: selftest.json and selftest.md.

It fails if a quirk fails, if a defect survives or is caught only by the check of
another requirement, or if no defect proves a requirement × operation. With
--sample it is quick, but proves only what was drawn.

With --target or --target-profile the faults wrap your own conforming server.`,
		Example: `  outreach-conformance selftest
  outreach-conformance selftest --sample 200 --seed 7
  outreach-conformance selftest --fault 'PAGE-*'
  outreach-conformance selftest --causes --sample 150`,
	}, f, targetFlags+`
Selection: operation fault sample causes quirks-together seed
Pace: parallel`+paceFlags+`
Output: output`, f.selftest, "{seed}", "the sample and the groups of quirks")
}

// The files of a self-test in the output directory.
const (
	matrixJSON     = "selftest.json"
	matrixMarkdown = "selftest.md"
)

func (f *selftestOptions) selftest(ctx context.Context, _ []string) error {
	if err := f.Selection.CheckOperations(); err != nil {
		return err
	}
	stop, err := f.wrap(ctx)
	if err != nil {
		return err
	}
	defer stop()
	if err := f.prepare(nil, matrixJSON, matrixMarkdown); err != nil {
		return err
	}
	o := view.On(f.err)
	o.Noun = "problem"
	progress := view.NewProgress(f.err, o)
	f.Start, f.Done = progress.Start, progress.Done
	m, err := selftest.Run(ctx, f.Options)
	progress.Stop()
	if err != nil || ctx.Err() != nil {
		return cannotTell(err)
	}
	return f.reportMatrix(m)
}

// wrap finds the conforming target that faults wrap. The caller calls stop, which stops it.
func (f *selftestOptions) wrap(ctx context.Context) (stop func(), err error) {
	if f.IsEmbedded() {
		if err := f.checkSettings(); err != nil {
			return nil, err
		}
		if f.Settings != (profile.Settings{}) {
			return nil, errors.New("--requests-per-second, --concurrency, --timeout, --patience, --user-agent, --wait: only with a target of your own")
		}
		f.Options.Source, f.Short = selftest.Embedded(selftest.WholeLists), selftest.Embedded(selftest.ShortLists)
		return func() {}, nil
	}
	t, stop, err := f.open(ctx)
	if err != nil {
		return nil, err
	}
	f.Selection = f.Selection.For(t.Profile)
	base, err := url.Parse(t.BaseURL)
	if err != nil {
		stop()
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = t.TLS
	f.Workers = 1 // the cases share one server and must not see each other's changes
	f.Options.Source = selftest.At(t.Profile, base, transport)
	return stop, nil
}

func (f *selftestOptions) reportMatrix(m selftest.Matrix) error {
	markdown := filepath.Join(f.Output, matrixMarkdown)
	if err := errors.Join(m.WriteJSON(filepath.Join(f.Output, matrixJSON)), m.WriteMarkdown(markdown), m.Print(f.out, markdown)); err != nil {
		return cannotTell(fmt.Errorf("write the matrix: %w", err))
	}
	if len(m.Problems()) > 0 {
		return exitError{code: reports.Failed.ExitCode(), final: true}
	}
	return nil
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"

	"github.com/spf13/cobra"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/reports/console"
	"outreach.example/conformance/reports/outputdir"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/runner"
	"outreach.example/conformance/suites/selftest"
)

type selftestFlags struct {
	runFlags
	sample   int
	causes   bool
	together int
	parallel int
	faults   []string
}

func newSelftest() *cobra.Command {
	var f selftestFlags
	cmd := &cobra.Command{
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
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	group(flags, "Target", func() { f.registerTarget(flags) })
	group(flags, "Selection", func() {
		f.registerOperations(flags)
		flags.StringSliceVar(&f.faults, "fault", nil, "defects and quirks to try, by id or requirement, e.g. 'PAGE-*' (default: all)")
		flags.IntVar(&f.sample, "sample", 0, "number of defects to draw; 0 tries all")
		flags.BoolVar(&f.causes, "causes", false, "judge each defect by all specs, without quirks, and count the probable causes of what fails")
		flags.IntVar(&f.together, "quirks-together", 4, "quirks that a target has at the same time; 1 tries each by itself")
		registerSeed(flags, &f.seed, 1, "the sample and the groups of quirks")
	})
	group(flags, "Pace", func() {
		flags.IntVar(&f.parallel, "parallel", 0, "cases at the same time (default: 3 per processor; always 1 with your own target)")
		f.registerPace(flags)
	})
	group(flags, "Output", func() { registerOutput(flags, &f.output, defaultOutput) })
	return cmd
}

// The files of a self-test in the output directory.
const (
	matrixJSON     = "selftest.json"
	matrixMarkdown = "selftest.md"
)

func (f selftestFlags) run(ctx context.Context, stdout, stderr io.Writer) error {
	selection := runner.Selection{Operations: f.operations}
	if err := selection.CheckOperations(); err != nil {
		return exitError{exitUsage, err}
	}
	source, stop, err := f.source(ctx, stderr, &selection)
	if err != nil {
		return err
	}
	defer stop()
	if err := outputdir.Prepare(f.output, matrixJSON, matrixMarkdown); err != nil {
		return exitError{exitUsage, fmt.Errorf("output directory: %w", err)}
	}
	progress := newProgress(stderr, console.ProgressOptions{One: "problem", Many: "problems"})
	m, err := selftest.Run(ctx, selftest.Options{Source: source, Short: f.short(), Workers: f.parallel, Seed: f.seed, Sample: f.sample, Causes: f.causes,
		Together: f.together, Faults: f.faults, Selection: selection, Start: progress.Start, Done: progress.Done})
	progress.Stop()
	if err := testEnded(ctx, err); err != nil {
		return err
	}
	return f.reportMatrix(m, stdout)
}

// testEnded returns the error with which the command ends if the self-test broke down.
func testEnded(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return interrupted
	case errors.Is(err, selftest.ErrNothingTried):
		return exitError{exitCannotTell, err}
	case err != nil:
		return exitError{exitCannotTell, err}
	}
	return nil
}

// source returns the conforming target that faults wrap. It adds the operations of the
// target's profile to the selection. The caller calls stop, which stops the target.
func (f *selftestFlags) source(ctx context.Context, stderr io.Writer, selection *runner.Selection) (source selftest.Source, stop func(), err error) {
	if f.isEmbedded() {
		if given, err := f.settings(); err != nil || given != (profile.Settings{}) {
			own := errors.New("--requests-per-second, --concurrency, --timeout, --patience, --wait: only with a target of your own")
			return nil, nil, exitError{exitUsage, cmp.Or(err, own)}
		}
		return selftest.Embedded(selftest.WholeLists), func() {}, nil
	}
	t, stop, err := f.start(ctx, stderr)
	if err != nil {
		return nil, nil, err
	}
	*selection = selection.For(t.Profile)
	base, err := url.Parse(t.BaseURL)
	if err != nil {
		stop()
		return nil, nil, exitError{exitUsage, err}
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = t.TLS
	f.parallel = 1 // the cases share one server and must not see each other's changes
	return selftest.At(t.Profile, base, transport), stop, nil
}

// short returns a source whose subjects take less time; nil if the target is the user's.
func (f *selftestFlags) short() selftest.Source {
	if f.isEmbedded() {
		return selftest.Embedded(selftest.ShortLists)
	}
	return nil
}

func (f selftestFlags) reportMatrix(m selftest.Matrix, stdout io.Writer) error {
	failed := errors.Join(m.WriteJSON(filepath.Join(f.output, matrixJSON)), m.WriteMarkdown(filepath.Join(f.output, matrixMarkdown)))
	failed = errors.Join(failed, printMatrix(stdout, m))
	problems := m.Problems()
	const shown = 40
	for _, p := range problems[:min(len(problems), shown)] {
		_, _ = fmt.Fprintf(stdout, "✗ %s\n", p)
	}
	if more := len(problems) - shown; more > 0 {
		_, _ = fmt.Fprintf(stdout, "  … and %d more in %s\n", more, filepath.Join(f.output, matrixMarkdown))
	}
	_, _ = fmt.Fprintf(stdout, "\n%s\n", m.Figures())
	if causes := m.CauseFigures(); causes != "" {
		_, _ = fmt.Fprintln(stdout, causes)
	}
	switch {
	case failed != nil:
		return exitError{exitCannotTell, fmt.Errorf("write the matrix: %w", failed)}
	case len(problems) > 0:
		return exitError{code: 1}
	}
	return nil
}

// printMatrix writes a table of the number of proven pairs by operation and group.
func printMatrix(w io.Writer, m selftest.Matrix) error {
	type cell struct{ proven, all int }
	cells := map[string]map[spec.Group]cell{}
	for _, p := range m.Pairs {
		r, _ := spec.FindRequirement(p.Requirement)
		row := cells[p.Operation]
		if row == nil {
			row = map[spec.Group]cell{}
			cells[p.Operation] = row
		}
		c := row[r.Group]
		c.all++
		if len(p.Kills) > 0 {
			c.proven++
		}
		row[r.Group] = c
	}
	columns := []string{"operation"}
	for _, g := range spec.Groups() {
		columns = append(columns, string(g))
	}
	var rows [][]any
	for _, op := range spec.Operations() {
		if cells[op.ID] == nil {
			continue
		}
		row := []any{op.ID}
		for _, g := range spec.Groups() {
			text := ""
			if c := cells[op.ID][g]; c.all > 0 {
				text = fmt.Sprintf("%d/%d", c.proven, c.all)
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	err := console.Table(w, columns, rows, 0)
	_, _ = fmt.Fprintln(w, "\nchecks that caught a defect / checks")
	return err
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/diff"
	"outreach.example/conformance/reports/earlier"

	"outreach.example/conformance/internal/disk"
	"outreach.example/conformance/reports/publish"
	"outreach.example/conformance/reports/view"
)

// newReport returns the command whose subcommands show results that a run has written.
func newReport() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Show the results of earlier runs",
		Args:  cobra.NoArgs,
		RunE:  needsSubcommand,
	}
	cmd.AddCommand(newReportHTML(), newReportDiff(), newReportMerge(), newReportBundle(), newReportVerify())
	return cmd
}

// needsSubcommand is the action of a command that does nothing by itself.
func needsSubcommand(cmd *cobra.Command, _ []string) error {
	return fmt.Errorf("no subcommand given (`%s --help` lists them)", cmd.CommandPath())
}

func newReportHTML() *cobra.Command {
	f := &struct{ session }{}
	return command(&cobra.Command{
		Use:   "html RESULTS...",
		Short: "Write the page of results",
		Long: `html writes the page of a results.json (report.html) or of a load.json (load.html),
as run and load do. RESULTS is the file or the directory that holds it. The page goes
beside the file, or into --output.`,
		Example: `  outreach-conformance report html conformance-results/results.json
  outreach-conformance report html load-results/load.json -o pages`,
		Args: cobra.MinimumNArgs(1),
	}, f, "Output: output", func(_ context.Context, args []string) error {
		pages := map[string]string{} // their sources
		for _, source := range args {
			if err := f.writePages(source, pages); err != nil {
				return err
			}
		}
		return nil
	})
}

// writePages writes a page of each results of the source, beside them or into the output directory,
// and says where. It replaces no page of another source.
func (s *session) writePages(source string, pages map[string]string) error {
	r, err := earlier.Read(source)
	if err == nil {
		err = r.Consistent()
	}
	if err != nil {
		return err
	}
	html := view.Formats["html"]
	for _, page := range []struct {
		of, name string
		write    func(path string) error
	}{
		{r.RunFile, reportFile, func(path string) error { return html.Run.Write(path, r.Run) }},
		{r.LoadFile, pageFile, func(path string) error { return html.Load.Write(path, r.Load) }},
	} {
		if page.of == "" {
			continue
		}
		dir := cmp.Or(s.Output, filepath.Dir(page.of))
		path := filepath.Join(dir, page.name)
		if other, known := pages[path]; known {
			return fmt.Errorf("%s: its page would replace that of %s (write each into an --output of its own)", page.of, other)
		}
		pages[path] = page.of
		if err := disk.Prepare(dir, page.name); err != nil {
			return fmt.Errorf("output directory: %w", err)
		}
		if err := page.write(path); err != nil {
			return cannotTell(err)
		}
		if _, err := fmt.Fprintln(s.out, path); err != nil {
			return cannotTell(fmt.Errorf("write the name of the page: %w", err))
		}
	}
	return nil
}

type diffOptions struct {
	session
	Thresholds []string `flag:"threshold" whole:"" usage:"condition to meet, on the change of the figures of load runs: 'worse<5%', 'mixed: worse<10%'; repeatable"`
}

func newReportDiff() *cobra.Command {
	f := &diffOptions{session: at("", publish.OfDifference.Names()...)}
	return command(&cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Compare the results of two runs",
		Long: `diff compares two results.json, two load.json, or two directories that hold them. It
reports the checks that newly fail, newly pass or are no longer assessed, changed
observations, and the figures of load runs with their intervals. Checks are compared by
requirement and operation, observations without ids: order and seed make no difference.

Exit codes: 0 no difference, or none that counts; 1 newly failing, no longer assessed,
or a threshold such as worse<5% missed; 2 usage error; 3 inconclusive.`,
		Example: `  outreach-conformance report diff results/1.4.0 results/1.5.0
  outreach-conformance report diff old/results.json new/results.json --format console,html=difference.html
  outreach-conformance report diff old/load.json new/load.json --threshold 'worse<5%'`,
		Args: cobra.ExactArgs(2),
	}, f, "Gate: threshold\nOutput: verbose format", f.diff, "{verbose}", "every change")
}

func (f *diffOptions) diff(_ context.Context, args []string) error {
	thresholds, err := measure.ParseThresholds(f.Thresholds)
	if err := errors.Join(err, verdict.CheckDifference(thresholds)); err != nil {
		return err
	}
	before, err := earlier.Read(args[0])
	if err != nil {
		return fmt.Errorf("OLD: %w", err)
	}
	after, err := earlier.Read(args[1])
	if err != nil {
		return fmt.Errorf("NEW: %w", err)
	}
	parts, err := compared(before, after, thresholds)
	if err != nil {
		return err
	}
	if err := f.Formats.Prepare(before.RunFile, before.LoadFile, after.RunFile, after.LoadFile); err != nil {
		return err
	}
	d := diff.Join(thisTool(), parts...)
	return f.conclude(publish.OfDifference.Views(d, view.Options{Verbose: f.Verbose}), d.Outcome.ExitCode(), nil)
}

// compared compares what both have.
func compared(before, after earlier.Results, thresholds []measure.Threshold) (parts []diff.Part, err error) {
	for _, kind := range []struct{ name, old, new string }{{resultsFile, before.RunFile, after.RunFile}, {loadFile, before.LoadFile, after.LoadFile}} {
		if (kind.old == "") != (kind.new == "") {
			return nil, fmt.Errorf("only one of %s and %s has results of the kind of a %s (compare results of the same kinds)", before.Path, after.Path, kind.name)
		}
	}
	if before.RunFile != "" {
		parts = append(parts, diff.Runs(before.RunFile, before.Run, after.RunFile, after.Run))
	}
	if before.LoadFile == "" {
		if len(thresholds) > 0 {
			return nil, fmt.Errorf("--threshold %q: only load runs have figures, and these are no load runs", thresholds[0].Text)
		}
		return parts, nil
	}
	figures, held := verdict.Difference(before.LoadFile, before.Load, after.Load, thresholds)
	return append(parts, diff.Loads(before.LoadFile, before.Load, after.LoadFile, after.Load, figures, held)), nil
}

// mergeCommand is the name of the commands that join results.
const mergeCommand = "merge"

func newReportMerge() *cobra.Command {
	f := at("merged-results", publish.OfRun.Names()...)
	return command(&cobra.Command{
		Use:   mergeCommand + " RESULTS...",
		Short: "Join the results of runs of one target",
		Long: `merge joins the results of several runs of one target, such as the jobs of a matrix
that each judge some of the operations. RESULTS is a results.json or a directory that
holds one. It writes what run writes, and draws the verdict by the same rules.

A check that several runs have fails if it fails in any of them. If it passed in
another, that is a contradiction, and a reason of the verdict. Results of different
targets, target profiles or versions of the harness are refused.`,
		Example: `  outreach-conformance report merge job-1/results.json job-2/results.json
  outreach-conformance report merge jobs/* -o merged-results --min-assessed 1500`,
		Args: cobra.MinimumNArgs(1),
	}, &f, "Gate: fail-on min-assessed\nOutput: output verbose format", f.merge)
}

func (s *session) merge(_ context.Context, sources []string) error {
	written := filepath.Join(s.Output, resultsFile)
	for _, source := range sources {
		if disk.Same(source, written) || disk.Same(filepath.Join(source, resultsFile), written) {
			return fmt.Errorf("%s: this command would replace it (choose another --output)", source)
		}
	}
	if err := disk.Forget(s.Output, verdictFiles...); err != nil {
		return err
	}
	if err := s.checkSettings(); err != nil {
		return err
	}
	var parts []diff.MergePart
	var files []string
	for _, source := range sources {
		r, err := earlier.Read(source)
		switch {
		case err != nil:
		case r.RunFile == "":
			err = fmt.Errorf("%s: results of a load run (`outreach-conformance load merge` joins the parts of one)", source)
		default:
			err = r.Consistent()
		}
		if err != nil {
			return err
		}
		parts, files = append(parts, diff.MergePart{File: r.RunFile, Results: r.Run}), append(files, r.RunFile)
	}
	var given profile.Profile
	given.Set(s.Settings)
	merged, err := diff.Merge(parts, judge.Minimum{Whole: given.FailOn == profile.FailOnNotAssessed, Assessed: given.MinAssessed})
	if err != nil {
		return err // the contradictions are among the reasons
	}
	if err := s.prepare(files, verdictFiles...); err != nil {
		return err
	}
	return s.report(merged, func(reports.Check) string { return "the target's profile" }, nil, nil)
}

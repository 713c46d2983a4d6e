package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"outreach.example/conformance/internal/disk"
	"outreach.example/conformance/loadtest"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/verdict"

	"outreach.example/conformance/reports/publish"
)

type loadMergeOptions struct {
	session
	gateOptions
}

func newLoadMerge() *cobra.Command {
	f := &loadMergeOptions{session: at(defaultLoadOutput, publish.OfLoad.Names()...)}
	return command(&cobra.Command{
		Use:   mergeCommand + " PART...",
		Short: "Join the parts of a sharded load run",
		Long: `merge joins the parts that the shards of a load run wrote, as if one process had
sent everything. It compares the figures with the thresholds of the shards, and with
those of --threshold, which replace theirs for the same figure. It writes what load
writes. A PART is a part.json, a directory that holds one, or - for the standard
input, with one part per line. The result is inconclusive if a shard is missing,
appears twice or belongs to another run.`,
		Example: `  outreach-conformance load merge shards/*/part.json -o load-results
  kubectl logs -l job-name=load --tail=-1 | grep '^{' | outreach-conformance load merge -`,
		Args: cobra.MinimumNArgs(1),
	}, f, "Gate: threshold baseline\nOutput: output verbose format", f.merge, "{verbose}", "every phase and violation")
}

func (f *loadMergeOptions) merge(_ context.Context, sources []string) error {
	thresholds, err := measure.ParseThresholds(f.Thresholds)
	if err != nil {
		return err
	}
	var parts []loadtest.Part
	var unreadable error
	for _, source := range sources {
		read, err := readParts(source, f.in)
		if unreadable = err; err != nil {
			break
		}
		parts = append(parts, read...)
	}
	if unreadable == nil {
		thresholds = loadtest.Thresholds(parts, thresholds)
	}
	baselines, overwrites, unread := f.baselines(f.Output, thresholds)
	if overwrites != nil {
		return overwrites
	}
	if err := errors.Join(disk.Forget(f.Output, mergedFiles...), unreadable, unread); err != nil {
		return err
	}
	applicable := verdict.Applicable{Chosen: parts[0].Scenarios, Known: scenario.Builtin(), Baseline: f.Baseline != ""}
	if err := applicable.Check(thresholds); err != nil {
		return err
	}
	inputs := slices.Concat(sources, []string{f.Baseline}, slices.Collect(maps.Keys(baselines)))
	if err := f.prepare(inputs, mergedFiles...); err != nil {
		return err
	}
	return (&loadOptions{session: f.session}).reportLoad(loadtest.Merge(parts, thresholds, baselines), nil)
}

// readParts reads a file of parts, the part in a directory, or the standard input.
func readParts(source string, stdin io.Reader) ([]loadtest.Part, error) {
	if disk.IsStdin(source) {
		return loadtest.ReadParts("standard input", stdin)
	}
	if info, err := os.Stat(source); err == nil && info.IsDir() {
		source = filepath.Join(source, partFile)
	}
	file, err := disk.Open(source)
	if err != nil {
		return nil, fmt.Errorf("%w (want a %s written by load --shard, or its output directory)", err, partFile)
	}
	parts, err := loadtest.ReadParts(source, file)
	return parts, errors.Join(err, file.Close())
}

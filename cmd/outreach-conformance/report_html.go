package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"outreach.example/conformance/reports/outputdir"
	"outreach.example/conformance/reports/view"
)

func newReportHTML() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "html RESULTS...",
		Short: "Write the page of results",
		Long: `html writes the page of a results.json (report.html) or of a load.json (load.html),
as run and load do. RESULTS is the file or the directory that holds it. The page goes
beside the file, or into --output.`,
		Example: `  outreach-conformance report html conformance-results/results.json
  outreach-conformance report html load-results/load.json -o pages`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, source := range args {
				page, err := writePage(source, dir)
				if err != nil {
					return err
				}
				if _, err := fmt.Fprintln(cmd.OutOrStdout(), page); err != nil {
					return exitError{exitCannotTell, fmt.Errorf("write the name of the page: %w", err)}
				}
			}
			return nil
		},
	}
	flags := cmd.Flags()
	group(flags, "Output", func() { registerOutput(flags, &dir, "") })
	return cmd
}

// writePage writes the page of the results and returns its path. An empty dir is the
// directory of the results.
func writePage(source, dir string) (path string, err error) {
	w, err := readResults(source)
	if err != nil {
		return "", err
	}
	if err := w.consistent(); err != nil {
		return "", err
	}
	page := view.Formats["html"]
	file, name, write := w.runFile, reportFile, func(path string) error { return page.Run.Write(path, w.run) }
	if file == "" {
		file, name, write = w.loadFile, pageFile, func(path string) error { return page.Load.Write(path, w.load) }
	}
	if dir == "" {
		dir = filepath.Dir(file)
	}
	if err := outputdir.Prepare(dir, name); err != nil {
		return "", exitError{exitUsage, fmt.Errorf("output directory: %w", err)}
	}
	path = filepath.Join(dir, name)
	if err := write(path); err != nil {
		return "", exitError{exitCannotTell, err}
	}
	return path, nil
}

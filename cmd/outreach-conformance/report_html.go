package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"outreach.example/conformance/internal/inputfile"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/outputdir"
	"outreach.example/conformance/reports/page/loadpage"
	"outreach.example/conformance/reports/page/runpage"
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
	file := resultsIn(source)
	if dir == "" {
		dir = filepath.Dir(file)
	}
	name, read := reportFile, readRun
	if isLoad(file) {
		name, read = pageFile, readLoad
	}
	write, err := read(file)
	if err != nil {
		return "", err
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

// readRun reads the results of a run, and returns what writes their page.
func readRun(file string) (write func(path string) error, err error) {
	r, err := reports.Read(file)
	return func(path string) error { return runpage.Write(path, r) }, err
}

// readLoad is readRun for a load run.
func readLoad(file string) (write func(path string) error, err error) {
	r, err := load.Read(file)
	return func(path string) error { return loadpage.Write(path, r) }, err
}

// resultsIn returns the file of results in a directory, and a file as it is.
func resultsIn(source string) string {
	if info, err := os.Stat(source); err != nil || !info.IsDir() {
		return source
	}
	for _, name := range []string{resultsFile, loadFile} {
		if file := filepath.Join(source, name); outputdir.IsResults(file) {
			return file
		}
	}
	return filepath.Join(source, resultsFile)
}

// isLoad reports whether the file holds the results of a load run.
func isLoad(path string) bool {
	if !outputdir.IsResults(path) {
		return false
	}
	body, err := inputfile.Read(path, load.MaxSize)
	var results struct {
		Scenarios json.RawMessage `json:"scenarios"`
	}
	return err == nil && json.Unmarshal(body, &results) == nil && results.Scenarios != nil
}

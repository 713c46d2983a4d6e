// Package earlier reads the results of earlier runs, as users name them: a file, or the output
// directory that holds it.
//
// It imports the models, their files, and what says whether results are consistent.
package earlier

import (
	"fmt"
	"os"
	"path/filepath"

	"outreach.example/conformance/internal/disk"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/jsonfile"
	"outreach.example/conformance/reports/load"

	"outreach.example/conformance/reports/summary"
)

// RunFile is the file of a run in its output directory.
const RunFile = "results.json"

// Results are what a file or a directory holds.
type Results struct {
	Path              string
	RunFile, LoadFile string // empty without such results
	Run               reports.Results
	Load              load.Results
}

// Run reads the results of a run that a flag names; nil for an empty name. The results that the
// command will write must not replace them.
func Run(flag, path, written string) (*reports.Results, error) {
	if path == "" {
		return nil, nil
	}
	if _, err := os.Stat(path); err != nil && !disk.IsStdin(path) {
		return nil, fmt.Errorf("--%s: %w (name the results.json of an earlier run)", flag, err)
	}
	r, err := Read(path)
	switch {
	case err == nil && r.RunFile == "":
		err = fmt.Errorf("%s: this is the %s (want the %s)", path, jsonfile.OfLoad, jsonfile.OfRun)
	case err == nil && disk.Same(r.RunFile, written):
		return nil, fmt.Errorf("--%s %s: this run would replace it (copy it, or choose another --output)", flag, r.RunFile)
	}
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", flag, err)
	}
	return &r.Run, nil
}

// Read reads a results.json, a load.json, or those in a directory.
func Read(path string) (r Results, err error) {
	r.Path = path
	info, err := os.Stat(path)
	if disk.IsStdin(path) || err == nil && !info.IsDir() {
		return r, r.read(path)
	}
	if err != nil {
		return r, fmt.Errorf("%w (want a results.json, a load.json or a directory that holds one)", err)
	}
	for _, name := range []string{RunFile, load.FileName} {
		file := filepath.Join(path, name)
		if _, err := os.Stat(file); err != nil {
			continue
		}
		if err := r.read(file); err != nil {
			return r, err
		}
	}
	if r.RunFile == "" && r.LoadFile == "" {
		return r, fmt.Errorf("%s: holds neither %s nor %s", path, RunFile, load.FileName)
	}
	return r, nil
}

// read reads a file of either kind.
func (r *Results) read(file string) error {
	text, err := disk.Read(file, load.MaxSize)
	if err != nil {
		return err
	}
	switch jsonfile.NameOf(text) {
	case "":
		return fmt.Errorf("%s: not a results file (want a %s of run or a %s of load)", file, RunFile, load.FileName)
	case jsonfile.OfRun:
		r.Run, err = jsonfile.Run.Parse(text)
		r.RunFile = file
	default:
		r.Load, err = load.Parse(text) // refuses other kinds
		r.LoadFile = file
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// Consistent returns an error if the results of a run contradict the catalogue or themselves.
func (r Results) Consistent() error {
	if r.RunFile == "" {
		return nil
	}
	if err := summary.Consistent(r.Run); err != nil {
		return fmt.Errorf("%s: %w", r.RunFile, err)
	}
	return nil
}

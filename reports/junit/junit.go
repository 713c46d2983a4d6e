// Package junit writes results as JUnit XML, for CI systems. The file has a testcase for
// each pair of requirement and operation, with the operation as its class, and one named
// "run" for the verdict. A run that judged nothing has only the latter. The file of a load
// run has a testcase for each scenario, for each threshold in each phase, and "run".
//
// It imports the results models and the catalogue. It must not import the suites.
package junit

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"outreach.example/conformance/internal/atomicfile"
	"outreach.example/conformance/reports"
)

// Write replaces the file at path with the JUnit form of r, atomically. It creates
// missing directories.
//
// The testcase "run" is a failure or an error unless the verdict is pass and a check
// passed. A CI system that reads only JUnit is then never green about nothing.
//
// The file has at most maxSize bytes. If the results need more, it leaves out details.
func Write(path string, r reports.Results) error {
	return write(path, document(reports.Shrink(r, fits)))
}

const (
	maxSize = 5_000_000
	small   = maxSize / 12 // bytes of texts that surely fit
)

// fits reports whether the JUnit form of r has at most maxSize bytes.
func fits(r reports.Results) bool {
	if r.TextBytes() <= small {
		return true
	}
	text, err := xml.MarshalIndent(document(r), "", "  ")
	return err != nil || len(text) <= maxSize
}

func write(path string, all suitesElement) error {
	err := atomicfile.Replace(path, func(temporary string) error {
		text, err := xml.MarshalIndent(all, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(temporary, append([]byte(xml.Header), append(text, '\n')...), 0o600); err != nil {
			return err
		}
		return complete(temporary, all.Suite.Tests)
	})
	if err != nil {
		return fmt.Errorf("write JUnit report: %w", err)
	}
	return nil
}

// complete reads the file back: a reader must find every testcase.
func complete(path string, testcases int) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var suites suitesElement
	if err := xml.NewDecoder(f).Decode(&suites); err != nil {
		return fmt.Errorf("the written file is incomplete: %w", err)
	}
	if suites.Suite.Tests != testcases || len(suites.Suite.Cases) != testcases {
		return errors.New("the written file is incomplete: testcases are missing")
	}
	return nil
}

// Encode returns the JUnit form of a list of testcases.
func Encode(l List) ([]byte, error) {
	text, err := xml.MarshalIndent(suite(l), "", "  ")
	return append([]byte(xml.Header), append(text, '\n')...), err
}

// List is the testcases of a run, for every format that shows a list of tests.
type List struct {
	Name      string
	Tool      reports.Tool
	Target    reports.Target
	Profile   string
	Selection string
	Seed      int64
	Run       string
	Started   time.Time
	Seconds   float64
	Cases     []Testcase // the first is "run"
}

// Cases returns the testcases of r. They have as many details as fit a file of maxSize.
func Cases(r reports.Results) List { return list(reports.Shrink(r, fits)) }

func list(r reports.Results) List {
	l := List{
		Name: r.Tool.Name, Tool: r.Tool, Target: r.Target, Profile: r.Run.Profile,
		Selection: r.Run.Selection, Seed: r.Run.Seed, Run: r.Run.ID, Started: r.Run.Started, Seconds: r.Run.Seconds,
		Cases: []Testcase{verdict(r)},
	}
	if r.Run.Specs > 0 { // else nothing was judged, and "run" says why
		for _, c := range r.Checks {
			l.Cases = append(l.Cases, check(c))
		}
	}
	return l
}

// document returns the JUnit form of r.
func document(r reports.Results) suitesElement { return suite(list(r)) }

// suite returns a document with one suite, and counts its testcases.
func suite(of List) suitesElement {
	s := suiteElement{
		Name: reports.Printable(cmp.Or(of.Name, reports.ToolName)), Package: reports.Printable(of.Target.BaseURL), Hostname: "localhost", Properties: of.properties(),
		Time: Seconds(of.Seconds), Timestamp: of.Started.UTC().Format("2006-01-02T15:04:05"), Tests: len(of.Cases), Cases: of.Cases,
	}
	for _, c := range of.Cases {
		switch {
		case c.Skipped != nil:
			s.Skipped++
		case c.Failure != nil:
			s.Failures++
		case c.Error != nil:
			s.Errors++
		}
	}
	return suitesElement{Suite: s}
}

// properties omits those without a value.
func (of List) properties() []property {
	var kept []property
	for _, p := range []property{
		{Name: "target", Value: of.Target.Name},
		{Name: "target version", Value: of.Target.Version},
		{Name: "vendor", Value: of.Target.Vendor},
		{Name: "kind", Value: of.Target.Kind},
		{Name: "profile", Value: of.Profile},
		{Name: "selection", Value: of.Selection},
		{Name: "seed", Value: strconv.FormatInt(of.Seed, 10)},
		{Name: "run", Value: of.Run},
		{Name: "harness", Value: of.Tool.Version},
	} {
		if p.Value != "" {
			p.Value = reports.Printable(p.Value)
			kept = append(kept, p)
		}
	}
	return kept
}

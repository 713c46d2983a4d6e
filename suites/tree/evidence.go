package tree

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"

	"outreach.example/conformance/suites/api"
)

// evidenceEntry is the name of the report entry that carries what a spec found
// out.
const evidenceEntry = "evidence"

// carried is a report entry: invisible on Ginkgo's console, and JSON on the way
// from one process to another.
type carried struct {
	Evidence *judge.Ledger `json:"evidence"`
	Pairs    []spec.Pair   `json:"pairs"`   // that the spec judges
	Seconds  float64       `json:"seconds"` // that the spec's body took
}

// String keeps evidence off Ginkgo's console.
func (carried) String() string { return "" }

// report adds what the spec found out, and how long that took, to Ginkgo's report.
func report(evidence *judge.Ledger, s api.Spec, took time.Duration) {
	AddReportEntry(evidenceEntry, carried{evidence, s.Pairs, took.Seconds()}, types.ReportEntryVisibilityNever)
}

// carriedBy returns what the spec's report entry carries; false if it has none.
func carriedBy(s types.SpecReport) (found carried, ok bool, err error) {
	for _, entry := range s.ReportEntries {
		if entry.Name != evidenceEntry {
			continue
		}
		if found, ok := entry.GetRawValue().(carried); ok {
			return found, true, nil
		}
		found.Evidence = judge.NewEvidence()
		if err := json.Unmarshal([]byte(entry.Value.AsJSON), &found); err != nil {
			return carried{}, false, fmt.Errorf("the evidence of %q: %w", s.FullText(), err)
		}
		return found, true, nil
	}
	return carried{}, false, nil
}

// Evidence returns what the specs of a Ginkgo report found out on the selected
// pairs. A report without our entries is evidence of nothing. Its error means
// that an entry was written by another version.
func Evidence(report types.Report, selected []spec.Pair) (*judge.Ledger, error) {
	ledger := judge.NewLedger(selected)
	for _, s := range report.SpecReports {
		found, ok, err := carriedBy(s)
		if err != nil {
			return nil, err
		}
		if ok {
			ledger.Add(found.Evidence)
		}
	}
	return ledger, nil
}

// AddSpecs enters into each check which specs of a Ginkgo report judged it, and
// how long they took.
func AddSpecs(checks []reports.Check, report types.Report) error {
	index := make(map[spec.Pair]*reports.Check, len(checks))
	for i := range checks {
		index[spec.Pair{Requirement: checks[i].Requirement, Operation: checks[i].Operation}] = &checks[i]
	}
	for _, s := range report.SpecReports {
		found, ok, err := carriedBy(s)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		for _, p := range found.Pairs {
			if c := index[p]; c != nil {
				c.Specs = append(c.Specs, api.ShortLocation(s.LeafNodeLocation))
				c.Seconds = microseconds(c.Seconds + found.Seconds/float64(len(found.Pairs)))
			}
		}
	}
	return nil
}

// microseconds rounds seconds, so that results show no digits without meaning.
func microseconds(seconds float64) float64 { return math.Round(seconds*1e6) / 1e6 }

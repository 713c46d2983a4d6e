package certify

import (
	"fmt"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/bundle"
)

// CompareAgain compares what the results of a bundle claim with a new run on the vendor's server. A
// spot check assesses only some of the checks.
func CompareAgain(claimed, found reports.Results, spotCheck bool) bundle.Lines {
	var l bundle.Lines
	was := map[string]reports.Outcome{}
	for _, c := range claimed.Checks {
		was[nameOf(c)] = c.Outcome
	}
	same, unknown, differ := 0, []string{}, []string{}
	for _, c := range found.Checks {
		before, known := was[nameOf(c)]
		switch {
		case !known, before == reports.NotAssessed, before == reports.Error: // the bundle says nothing of it
		case before == c.Outcome:
			same++
		case c.Outcome == reports.NotAssessed || c.Outcome == reports.Error:
			unknown = append(unknown, nameOf(c))
		default:
			differ = append(differ, fmt.Sprintf("%s: %s in the bundle, %s now", nameOf(c), before, c.Outcome))
		}
	}
	state := bundle.OK
	switch {
	case len(differ) > 0:
		state = bundle.Refuted
	case same == 0, len(unknown) > 0 && !spotCheck:
		state = bundle.CannotTell
	}
	outcomes := l.Add("again: outcomes", state, "%s of %s are as in the bundle, %s were not assessed now, in %s", printable.Number(same),
		printable.Counted(len(claimed.Checks), "check"), printable.Number(len(unknown)), printable.Counted(found.Traffic.Requests, "request"))
	outcomes.More = differ
	if state == bundle.CannotTell {
		outcomes.More = append(unknown, found.Reasons...)
	}
	as := Resemblance(ofBoth(claimed.Observations, found.Observations), ofBoth(found.Observations, claimed.Observations))
	if as >= resembles {
		l.Add("again: fingerprint", bundle.OK, "where the specification is silent, %.0f %% of the behaviour is as in the bundle", 100*as)
	} else {
		l.Add("again: fingerprint", bundle.Refuted, "where the specification is silent, only %.0f %% of the behaviour is as in the bundle: this is another implementation or version", 100*as)
	}
	return l
}

// ofBoth returns the observations at those open points of an operation that the other list has, too.
func ofBoth(list, other []reports.Observation) (of []reports.Observation) {
	has := map[[2]string]bool{}
	for _, o := range other {
		has[[2]string{o.OpenPoint, o.Operation}] = true
	}
	for _, o := range list {
		if has[[2]string{o.OpenPoint, o.Operation}] {
			of = append(of, o)
		}
	}
	return of
}

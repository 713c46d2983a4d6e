package reports_test

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"outreach.example/conformance/reports"
)

// random draws results that Validate accepts.
func random(t *rapid.T) reports.Results {
	verdict := rapid.SampledFrom([]reports.Verdict{reports.Passed, reports.Failed, reports.Inconclusive}).Draw(t, "verdict")
	r := reports.Results{
		Version:      reports.ModelVersion,
		Tool:         reports.Tool{Name: words(t), Version: rapid.String().Draw(t, "version"), Go: rapid.String().Draw(t, "go")},
		Verdict:      verdict,
		Checks:       randomChecks(t),
		Observations: rapid.SliceOfN(rapid.Custom(randomObservation), 0, 5).Draw(t, "observations"),
		Troubles: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) reports.Trouble {
			return reports.Trouble{Where: rapid.String().Draw(t, "where"), What: words(t)}
		}), 0, 3).Draw(t, "troubles"),
		Target: reports.Target{
			Name: rapid.String().Draw(t, "target"), Version: rapid.String().Draw(t, "version"), Vendor: rapid.String().Draw(t, "vendor"),
			BaseURL: rapid.String().Draw(t, "base url"),
			Kind:    rapid.SampledFrom([]string{"embedded", "url", "image", "dockerfile"}).Draw(t, "kind"),
		},
		Run: reports.Run{
			ID: words(t), Started: time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "started"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds")).UTC(),
			Seconds: rapid.Float64Range(0, 1e6).Draw(t, "seconds"), Seed: rapid.Int64().Draw(t, "seed"),
			Profile: words(t), Selection: rapid.String().Draw(t, "selection"), Specs: count(t, 0),
			Time: rapid.Ptr(rapid.Custom(func(t *rapid.T) reports.Time {
				part := func(name string) float64 { return rapid.Float64Range(0, 1e6).Draw(t, name) }
				judging := part("judging")
				return reports.Time{Judging: judging, InFlight: judging / 2, RateLimit: part("rate_limit"), Throttled: part("throttled"), Paced: part("paced"), Locked: part("locked")}
			}), true).Draw(t, "time"),
		},
		Traffic: reports.Traffic{
			Requests: count(t, 0), BytesReceived: int64(count(t, 0)), Throttled: count(t, 0),
			Statuses: rapid.MapOfN(rapid.StringMatching(`[1-5][0-9]{2}|none`), rapid.IntRange(0, 1e6), 0, 4).Draw(t, "statuses"),
		},
	}
	if r.Requests = rapid.SliceOfN(rapid.Custom(randomRequests), 0, 3).Draw(t, "requests"); len(r.Requests) == 0 {
		r.Requests = nil
	}
	if verdict == reports.Passed {
		r.Checks = append(r.Checks, reports.Check{
			Requirement: "SURE-PASS", Operation: "sure.pass", Group: "sure", Level: "stated", Outcome: reports.Pass, Assessments: 1,
		})
	} else {
		r.Run.Interrupted = rapid.Bool().Draw(t, "interrupted")
		r.Reasons = rapid.SliceOfN(rapid.Custom(words), 1, 3).Draw(t, "reasons")
		if rapid.Bool().Draw(t, "worse than the baseline") {
			r.Regressions = r.Reasons
		}
	}
	return r
}

func randomChecks(t *rapid.T) []reports.Check {
	return rapid.SliceOfNDistinct(rapid.Custom(randomCheck), 0, 8, func(c reports.Check) string {
		return c.Requirement + " " + c.Operation
	}).Draw(t, "checks")
}

func randomCheck(t *rapid.T) reports.Check {
	c := reports.Check{
		Requirement: rapid.StringMatching(`[A-Z0-9]{1,4}([-_.][A-Z0-9]{1,3}){0,3}`).Draw(t, "requirement"),
		Operation:   rapid.StringMatching(`[a-z]{1,4}([-.][a-z]{1,3}){0,2}`).Draw(t, "operation"),
		Group:       words(t),
		Level:       rapid.SampledFrom([]string{"stated", "derived"}).Draw(t, "level"),
		Outcome:     rapid.SampledFrom([]reports.Outcome{reports.Pass, reports.Fail, reports.NotAssessed, reports.Error}).Draw(t, "outcome"),
	}
	if c.Specs = rapid.SliceOfN(rapid.Custom(words), 0, 2).Draw(t, "specs"); len(c.Specs) == 0 {
		c.Specs = nil
	} else {
		c.Seconds = rapid.Float64Range(0, 1e6).Draw(t, "seconds")
	}
	switch c.Outcome {
	case reports.Pass:
		c.Assessments = count(t, 1)
	case reports.Fail:
		c.Assessments = count(t, 0)
		c.Violations = rapid.SliceOfN(rapid.Custom(randomViolation), 1, 3).Draw(t, "violations")
		c.ViolationCount = len(c.Violations) + count(t, 0)
		c.Consequences = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) reports.Consequence {
			return reports.Consequence{Requirement: "SHAPE-A.B-TYPE", Operation: "a.list", Count: count(t, 1)}
		}), 0, 2).Draw(t, "consequences")
		if len(c.Consequences) == 0 {
			c.Consequences = nil
		}
	case reports.NotAssessed:
		c.Missing = rapid.SliceOfN(rapid.Custom(words), 1, 3).Draw(t, "missing")
	case reports.Error:
		c.Assessments = count(t, 0)
	}
	return c
}

func randomViolation(t *rapid.T) reports.Violation {
	return reports.Violation{
		Statement: words(t), Section: words(t), Spec: rapid.String().Draw(t, "spec"),
		Pointer:  rapid.SampledFrom([]string{"", "/items/0/id", "status", "header:Content-Type"}).Draw(t, "pointer"),
		Expected: words(t), Actual: rapid.String().Draw(t, "actual"), Curl: rapid.String().Draw(t, "curl"),
		Body:     rapid.StringN(0, reports.MaxBody, -1).Draw(t, "body"),
		Exchange: rapid.Ptr(rapid.Custom(randomExchange), true).Draw(t, "exchange"),
	}
}

func randomExchange(t *rapid.T) reports.Exchange {
	head := func() reports.Head {
		h := reports.Head{Line: words(t), Headers: rapid.SliceOfN(rapid.Custom(words), 0, 2).Draw(t, "headers"), Bytes: count(t, 0)}
		if len(h.Headers) == 0 {
			h.Headers = nil
		}
		return h
	}
	return reports.Exchange{Request: head(), Response: head(), RequestBody: rapid.StringN(0, 40, -1).Draw(t, "request body")}
}

func randomRequests(t *rapid.T) reports.Requests {
	sent := count(t, 1)
	return reports.Requests{Operation: "leads.move", Allowed: words(t), Sent: sent, Accepted: rapid.IntRange(0, sent).Draw(t, "accepted")}
}

func randomObservation(t *rapid.T) reports.Observation {
	return reports.Observation{
		OpenPoint: fmt.Sprintf("SILENCE-%d", rapid.IntRange(1, 4).Draw(t, "open_point")),
		Operation: rapid.SampledFrom([]string{"", "leads.move", "lead-lists.list", "no-such.operation"}).Draw(t, "operation"),
		Value:     rapid.String().Draw(t, "value"),
		Count:     count(t, 1),
	}
}

// words draws a non-empty string.
func words(t *rapid.T) string { return rapid.StringN(1, 20, -1).Draw(t, "words") }

func count(t *rapid.T, least int) int { return rapid.IntRange(least, 1e6).Draw(t, "count") }

package runner

import (
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/suites"
)

// about returns results that say who judged what, when, and nothing else.
func about(config Config, id string, started time.Time) reports.Results {
	return reports.Results{
		Version: reports.ModelVersion,
		Tool:    reports.Tool{Name: reports.ToolName, Version: config.Version, Go: runtime.Version(), Commit: config.Commit},
		Target:  describe(config.Target),
		Run: reports.Run{
			ID: id, Started: started.UTC().Truncate(time.Millisecond), Seconds: time.Since(started).Seconds(),
			Seed: int64(config.Seed), Profile: config.Selection.ProfileName(), Selection: config.Selection.String(),
			Operations: config.Target.Profile.Operations, Omits: config.Target.Profile.Omits,
		},
	}
}

// Unjudged says why a run ended before it could judge its target.
type Unjudged struct {
	Reason      string // in words
	Missing     string // the input that each check lacked
	Interrupted bool
}

// NotJudged returns the results of such a run: they are inconclusive, and no check is
// assessed.
func NotJudged(config Config, started time.Time, why Unjudged) reports.Results {
	config.Selection = config.Selection.For(config.Target.Profile)
	selected, _ := config.Selection.Pairs() // there may be none: the reason says so
	ledger := judge.NewLedger(selected)
	for _, p := range selected {
		ledger.Missing(p, why.Missing)
	}
	results := about(config, uuid.NewString(), started)
	results.Run.Interrupted = why.Interrupted
	results.Checks = ledger.Checks()
	judge.Conclude(&results)
	results.Reasons = slices.Insert(results.Reasons, 0, why.Reason)
	return results
}

func describe(t *target.Target) reports.Target {
	return reports.Target{Name: t.Profile.Name, Version: t.Profile.Version, Vendor: t.Profile.Vendor, BaseURL: t.BaseURL, Kind: t.Kind}
}

func traffic(env *suites.Env) reports.Traffic {
	t := env.Client.Traffic()
	statuses := map[string]int{}
	for status, n := range t.Statuses {
		statuses[strconv.Itoa(status)] = n
	}
	if t.NoAnswer > 0 {
		statuses["none"] = t.NoAnswer
	}
	return reports.Traffic{Requests: t.Requests, Statuses: statuses, BytesReceived: t.BytesReceived, Throttled: t.Throttled, Unjudged: env.Unjudged()}
}

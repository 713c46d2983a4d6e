package loadtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"slices"
	"time"

	"github.com/google/uuid"

	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/sandbox"

	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/inspect"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/prepare"
	"outreach.example/conformance/loadtest/runner"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
)

// session is a run against one target from calibration to end.
type session struct {
	config  Config
	started time.Time
	env     *runner.Env
}

// begin prepares a run. readsOnly means that it changes nothing on the target.
func begin(ctx context.Context, config Config, budget *prepare.Budget, readsOnly bool) (*session, error) {
	if err := Consented(config.Target.BaseURL, config.Consent...); err != nil {
		return nil, err
	}
	if config.Say == nil {
		config.Say = func(string) {}
	}
	if config.Watch == nil {
		config.Watch = func(string, string) {}
	}
	if config.Live == nil {
		config.Live = func(generate.Live) {}
	}
	s := &session{config: config, started: time.Now()}
	var err error
	if s.env, err = environment(config, budget.Part(), readsOnly); err != nil {
		return nil, err
	}
	err = prepare.Ready(ctx, &s.env.Env, config.Scenarios, readsOnly)
	if err == nil { // last, so that the target is at rest when the load starts
		if s.env.Calibration, err = calibrate(ctx, config, s.env.Client, s.env.Rules); err != nil {
			err = fmt.Errorf("%w: %w", ErrCalibration, err)
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.end())
	}
	return s, nil
}

// end releases the run's resources and returns errors of the journal.
func (s *session) end() error {
	s.env.Generator.Close()
	s.env.Client.Close()
	if s.env.Journal != nil {
		return s.env.Journal.Finish()
	}
	return nil
}

// results returns the results so far, without the scenarios.
func (s *session) results() load.Results {
	results := about(s.config, s.env.Run, s.started)
	results.Calibration = calibration(s.env.Calibration)
	if shard := s.config.Shard; shard.Of > 1 {
		results.Run.Shard = &load.Shard{Index: shard.Index + 1, Of: shard.Of}
	}
	return results
}

// about returns results that say who loaded what, when, and nothing else.
func about(config Config, id string, started time.Time) load.Results {
	return load.Results{
		Version: load.ModelVersion,
		Tool:    reports.Tool{Name: reports.ToolName, Version: config.Version, Go: runtime.Version(), Commit: config.Commit},
		Target:  describe(config.Target),
		Run:     load.Run{ID: id, Started: started.UTC().Truncate(time.Millisecond), Seed: int64(config.Seed), Selection: config.Selection},
	}
}

// NotMeasured returns the results of a run that ended before its first measurement.
// They are inconclusive, for the given reason.
func NotMeasured(config Config, started time.Time, reason string, interrupted bool) load.Results {
	results := about(config, sandbox.NewRun().ID, started)
	results.Run.Interrupted, results.Run.Seconds = interrupted, time.Since(started).Seconds()
	results.Verdict, results.Reasons = reports.Inconclusive, []string{reason}
	return results
}

// finish determines the verdict.
func (s *session) finish(ctx context.Context, o *Outcome) {
	o.Results.Run.Interrupted = ctx.Err() != nil
	o.Results.Run.Seconds = time.Since(s.started).Seconds()
	o.conclude(s.config.ByName, s.config.Thresholds)
}

// environment builds the environment of the scenarios.
func environment(config Config, budget *prepare.Budget, readsOnly bool) (*runner.Env, error) {
	t, run := config.Target, sandbox.RunOf(uuid.NewString(), group(config))
	rules, err := judge.NewRules()
	if err != nil {
		return nil, err
	}
	api, err := t.Client(client.Options{Seed: config.Seed, Allow: budget.One, Waits: func(w client.Wait) { config.Say(w.String()) }})
	if err != nil {
		return nil, err
	}
	generator, err := generate.New(generate.Options{BaseURL: t.BaseURL, TLSConfig: t.TLS, UserAgent: t.Profile.UserAgent, Workers: config.Workers,
		Timeout: t.Profile.Pace.Timeout, Raw: config.Raw, RawLines: config.RawLines})
	if err != nil {
		return nil, err
	}
	env := &runner.Env{
		Env: prepare.Env{
			Profile: t.Profile, BaseURL: t.BaseURL, Rules: rules.Omitting(t.Profile.Omits...), Client: api, Run: run.ID, Seed: config.Seed, Budget: budget,
			Shard: config.Shard,
			Start: config.Start.Round(0), // by the wall clock alone: all shards then name the same instant
		},
		Terms: config.Terms, Generator: generator, Inspect: config.Inspect, Say: config.Say, Watch: config.Watch, Live: config.Live,
	}
	if l := t.Profile.Load; l != nil {
		env.MaxRate = float64(l.MaxRate)
	}
	// Walks and probes ignore the profile's pace, but are no faster than load may be.
	env.Bare = func(concurrency int, from string) (*client.Client, error) {
		options := client.Options{Seed: config.Seed, Allow: budget.One, Concurrency: concurrency, RequestsPerSecond: cmp.Or(env.MaxRate, client.Unpaced)}
		if from != "" {
			dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
			options.Transport = &http.Transport{DialContext: dialer.DialContext, TLSClientConfig: t.TLS.Clone(),
				MaxIdleConns: concurrency, MaxIdleConnsPerHost: concurrency, IdleConnTimeout: 4 * time.Second}
		}
		return t.Client(options)
	}
	if config.JournalDir != "" {
		env.Ended = sandbox.FindLeft(config.JournalDir, t.BaseURL).Runs
		env.Journal, err = sandbox.StartJournal(config.JournalDir, run, t.BaseURL, changed(config, readsOnly)...)
	}
	return env, err
}

// changed returns the workspaces that no other run may use meanwhile: none if all scenarios
// only read, and leave the limited key alone.
func changed(config Config, readsOnly bool) []string {
	for _, s := range config.Scenarios {
		if !readsOnly && (s.Kind == scenario.RateLimit || slices.ContainsFunc(s.Operations(), func(o scenario.Share) bool { return o.Operation.Unsafe() })) {
			return config.Target.Shared()
		}
	}
	return nil
}

// group is what the shards of one run have in common; empty for a whole run.
func group(config Config) string {
	if config.Shard.Of < 2 {
		return ""
	}
	return fmt.Sprint(config.Seed, config.Start.UnixNano())
}

// budgetOf returns the request budget that the profile allows a load run for
// all its targets; a shard gets its part.
func budgetOf(config Config) *prepare.Budget {
	l := config.Target.Profile.Load
	if l == nil || l.Budget == 0 {
		return prepare.NewBudget(0)
	}
	return prepare.NewBudget(max(1, int64(l.Budget)/int64(max(1, config.Shard.Of))))
}

// ErrCalibration is the error of a run whose generator could not be tried on this machine.
var ErrCalibration = errors.New("the generator could not be tried on this machine")

// calibrate measures what the generator can do on this machine, with a body of
// the target's size and with inspection, which is part of the load. It ignores
// a target that does not answer; the scenarios report that.
func calibrate(ctx context.Context, config Config, api *client.Client, rules *judge.Rules) (measure.Calibration, error) {
	options := generate.CalibrationOptions{Child: config.Calibrator}
	if request, asked, ok := prepare.Typical(config.Target.Profile); ok {
		if ex := api.Do(ctx, request); ex.Err == nil && ex.Status == http.StatusOK {
			options.Body = ex.Body
		}
		options.Request = generate.Request{Label: request.Operation, Path: request.Path, Asked: asked}
	}
	inspected := config.Inspect
	inspected.Rules = rules
	inspector, err := inspect.New(inspected)
	if err != nil {
		return measure.Calibration{}, err
	}
	defer inspector.Close()
	options.Inspect = inspector.Take
	if config.Calibrate != nil {
		return config.Calibrate(ctx, options)
	}
	return generate.Calibrate(ctx, options)
}

func describe(t *target.Target) reports.Target {
	return reports.Target{Name: t.Profile.Name, Version: t.Profile.Version, Vendor: t.Profile.Vendor, BaseURL: t.BaseURL, Kind: t.Kind}
}

// calibration converts a calibration to the results model.
func calibration(c measure.Calibration) *load.Calibration {
	note := fmt.Sprintf("measured with responses of %d bytes from a null server on this machine", c.Bytes)
	if c.Shared {
		note += ", in the generator's own process (its CPU time is included, which lowers the ceiling)"
	}
	return &load.Calibration{
		CeilingPerSecond: c.Ceiling, LagP99MS: float64(c.Lag.Value.Microseconds()) / 1000, ServiceP99MS: float64(c.Adds.Microseconds()) / 1000,
		CPUPerRequestUS: float64(c.CPU.Nanoseconds()) / 1000, Cores: runtime.NumCPU(), Note: note,
	}
}

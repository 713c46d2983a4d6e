package main

import (
	"time"

	"github.com/spf13/pflag"

	"outreach.example/conformance/fixtures/profile"
)

// settingFlags say what an entry of the profile says too. A flag, or its
// variable, goes before the profile. A command has those that make a difference to it.
type settingFlags struct {
	flags *pflag.FlagSet // that they belong to; nil where the command has none

	writes      string
	requests    int  // the budget
	ofLoad      bool // the budget is that of a load run
	perSecond   float64
	concurrency int
	timeout     time.Duration
}

// registerPace gives a command the flags that hold for all that send with the
// client of a run. A load run sends on its schedule.
func (s *settingFlags) registerPace(flags *pflag.FlagSet) {
	flags.Float64Var(&s.perSecond, "requests-per-second", 0, "pace, overrides the target profile; 0 is unlimited")
	flags.IntVar(&s.concurrency, "concurrency", 0, concurrencyUsage)
	s.registerTimeout(flags)
}

func (s *settingFlags) registerTimeout(flags *pflag.FlagSet) {
	s.flags = flags
	flags.DurationVar(&s.timeout, "timeout", 0, "timeout of a request, overrides the target profile")
}

func (s *settingFlags) registerWrites(flags *pflag.FlagSet) {
	flags.StringVar(&s.writes, "writes", "", "what may be changed on the target: none, own or listed (overrides the target profile)")
}

func (s *settingFlags) registerBudget(flags *pflag.FlagSet) {
	flags.IntVar(&s.requests, "max-requests", 0, maxRequestsUsage+" (overrides budget in the target profile)")
}

func (s *settingFlags) registerLoadBudget(flags *pflag.FlagSet) {
	s.ofLoad = true
	flags.IntVar(&s.requests, "max-requests", 0, maxRequestsUsage+" (overrides load.budget in the target profile)")
}

// settings are those that were given. Its error names each that no profile may have.
func (s settingFlags) settings() (profile.Settings, error) {
	given := profile.Settings{
		Writes:            changed(s.flags, "writes", s.writes),
		Budget:            changed(s.flags, "max-requests", s.requests),
		RequestsPerSecond: changed(s.flags, "requests-per-second", s.perSecond),
		Concurrency:       changed(s.flags, "concurrency", s.concurrency),
		Timeout:           changed(s.flags, "timeout", s.timeout),
	}
	if s.ofLoad {
		given.Budget, given.LoadBudget = nil, given.Budget
		given.Concurrency = nil // that of the generator, not of the client
	}
	flagOf := map[string]string{
		"writes": "writes", "budget": "max-requests", "load.budget": "max-requests", "pace.requests_per_second": "requests-per-second",
		"pace.concurrency": "concurrency", "pace.timeout": "timeout",
	}
	return given, given.Check(func(entry string) string { return "--" + flagOf[entry] + ", or " + variable(flagOf[entry]) })
}

// changed is the value of a flag that was given; nil of another.
func changed[T any](flags *pflag.FlagSet, name string, value T) *T {
	if flags == nil || !flags.Changed(name) {
		return nil
	}
	return &value
}

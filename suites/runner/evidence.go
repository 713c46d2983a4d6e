package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/evidence"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// settings are those of a run that decide what it sends. A recording has them.
type settings struct {
	ID           string    `json:"id"`
	Started      time.Time `json:"started"`
	Seed         uint64    `json:"seed"`
	Salt         uint64    `json:"salt,string"`
	Address      string    `json:"address"`
	Kind         string    `json:"kind"`
	Profile      string    `json:"profile"` // of the target, as YAML, without secrets
	Profiles     []string  `json:"profiles,omitempty"`
	Operations   []string  `json:"operations,omitempty"`
	Requirements []string  `json:"requirements,omitempty"`
	Groups       []string  `json:"groups,omitempty"`

	Challenge *Challenge `json:"challenge,omitempty"`
}

// endEvidence ends the recording.
func (r *run) endEvidence() error {
	public, err := r.profile.Public(r.config.Target.BaseURL).YAML("the target profile of a recorded run, without its secrets")
	if err != nil {
		return err
	}
	s := r.config.Selection
	return r.config.Evidence.Close(settings{ID: r.About.Run.ID, Started: r.About.Run.Started, Seed: r.config.Seed, Salt: r.env.Salt,
		Address: r.config.Target.BaseURL, Kind: r.config.Target.Kind, Profile: string(public),
		Profiles: texts(s.Profiles), Operations: s.Operations, Requirements: s.Requirements, Groups: s.Groups,
		Challenge: r.config.Challenge})
}

// replay is a recorded run that is judged again.
type replay struct {
	settings
	player *evidence.Player
}

// replayed is how many requests more than in the recorded run are in flight: a response waits
// for those that came before.
const replayed = 1000

// Fit says how the requests of a replay fit the recording.
type Fit struct {
	Missing []string // requests that the recording does not have
	Left    []string // requests of the recording that the replay did not send
	// Bounded says why an honest recording may not fit; empty if it must.
	Bounded string
	// Challenge is that of the recorded run, if it had one. Unexplained says what of the run does not
	// follow from it; nil for nothing.
	Challenge   Challenge
	Unexplained error
}

// JudgeAgain judges a recorded run again: the same specs run, and the recording answers them. Its
// error means that the recording cannot be read.
func JudgeAgain(ctx context.Context, recording io.Reader, version string) (results reports.Results, fit Fit, err error) {
	r := &replay{}
	if r.player, err = evidence.Open(recording); err != nil {
		return results, fit, err
	}
	if err = json.Unmarshal(r.player.Run.Settings, &r.settings); err != nil {
		return results, fit, fmt.Errorf("the settings of the recorded run: %w", err)
	}
	if r.Challenge != nil {
		fit.Challenge = *r.Challenge
		fit.Unexplained = r.Challenge.explains(r.settings)
		r.Challenge.name(r.ID)
	}
	p, err := profile.Parse("the profile of the recorded run", []byte(r.Profile))
	if err != nil {
		return results, fit, err
	}
	s := Selection{Operations: r.Operations, Requirements: r.Requirements, Groups: r.Groups}
	for _, name := range r.Profiles {
		s.Profiles = append(s.Profiles, spec.Profile(name))
	}
	t := &target.Target{BaseURL: r.Address, Kind: r.Kind, Profile: p.WithPlaceholders(r.player.Run.Keys)}
	results, err = Run(ctx, Config{Target: t, Selection: s, Seed: r.Seed, Version: version, replay: r})
	fit.Missing, fit.Left = r.player.Missing, r.player.Left()
	if p.Budget > 0 {
		fit.Bounded = "the run had a budget of requests, and which specs it cut is chance"
	}
	return results, fit, err
}

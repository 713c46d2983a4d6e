package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/evidence"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// Recording is what a recording says of its run: what decides which requests the specs send.
type Recording struct {
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

	Challenge *Challenge `json:"challenge,omitempty"` // nil if the run followed from none
}

// endEvidence ends the recording.
func (r *run) endEvidence() error {
	public, err := r.profile.Public(r.config.Target.BaseURL).YAML("the target profile of a recorded run, without its secrets")
	if err != nil {
		return err
	}
	s := r.config.Selection
	return r.config.Evidence.Close(Recording{ID: r.About.Run.ID, Started: r.About.Run.Started, Seed: r.config.Seed, Salt: r.env.Salt,
		Address: r.config.Target.BaseURL, Kind: r.config.Target.Kind, Profile: string(public),
		Profiles: texts(s.Profiles), Operations: s.Operations, Requirements: s.Requirements, Groups: s.Groups,
		Challenge: r.config.Challenge})
}

// ReadRecording returns what a recording says of its run. It skips the exchanges.
func ReadRecording(from io.Reader) (Recording, error) {
	about, err := evidence.About(from)
	if err != nil {
		return Recording{}, err
	}
	return recordingOf(about)
}

func recordingOf(about evidence.Run) (r Recording, err error) {
	if err = json.Unmarshal(about.Settings, &r); err != nil {
		return r, fmt.Errorf("the settings of the recorded run: %w", err)
	}
	return r, nil
}

// TargetProfile returns the profile of the target, without secrets.
func (r Recording) TargetProfile() (*profile.Profile, error) {
	return profile.Parse("the profile of the recorded run", []byte(r.Profile))
}

// replay is a recorded run that is judged again.
type replay struct {
	Recording
	player *evidence.Player
}

// replayed is how many requests more than in the recorded run are in flight: a response waits
// for those that came before.
const replayed = 1000

// Again is what came of judging a recorded run again.
type Again struct {
	Recording
	Results     reports.Results
	Missing     []string  // requests of the specs that the recording does not have
	Left        []string  // requests of the recording that the specs did not send
	First, Last time.Time // when the first request was sent, and the last response had come
	Agents      []string  // User-Agent of the requests
	// Bounded says why an honest recording may not fit; empty if it must.
	Bounded string
}

// Fits reports whether the specs sent the requests of the recording.
func (a Again) Fits() bool { return len(a.Missing)+len(a.Left) == 0 }

// JudgeAgain judges a recorded run again: the same specs run, and the recording answers them. Its
// error means that the recording cannot be read.
func JudgeAgain(ctx context.Context, recording io.Reader, version string) (again Again, err error) {
	r := &replay{}
	if r.player, err = evidence.Open(recording); err != nil {
		return again, err
	}
	if r.Recording, err = recordingOf(r.player.Run); err != nil {
		return again, err
	}
	again.Recording = r.Recording
	if r.Challenge != nil {
		r.Challenge.name(r.ID)
	}
	p, err := r.TargetProfile()
	if err != nil {
		return again, err
	}
	s := Selection{Operations: r.Operations, Requirements: r.Requirements, Groups: r.Groups}
	for _, name := range r.Profiles {
		s.Profiles = append(s.Profiles, spec.Profile(name))
	}
	t := &target.Target{BaseURL: r.Address, Kind: r.Kind, Profile: p.WithPlaceholders(r.player.Run.Keys)}
	again.Results, err = Run(ctx, Config{Target: t, Selection: s, Seed: r.Seed, Version: version, replay: r})
	again.Missing, again.Left = r.player.Missing, r.player.Left()
	again.First, again.Last, again.Agents = r.player.First, r.player.Last, slices.Sorted(maps.Keys(r.player.Agents))
	if p.Budget > 0 {
		again.Bounded = "the run had a budget of requests, and which specs it cut is chance"
	}
	return again, err
}

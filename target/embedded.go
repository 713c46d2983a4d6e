package target

import (
	"context"
	"errors"
	"fmt"

	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/refserver"
)

// loopback lets the system pick a port that only this machine can reach.
const loopback = "127.0.0.1:0"

// Embedded starts the reference server in this process, with the data set that
// the options describe and the profile that goes with it. The context bounds
// the start only; Close ends the server and returns what went wrong while it ran.
func Embedded(ctx context.Context, data dataset.Options, server refserver.Options) (*Target, error) {
	set, err := dataset.New(data)
	if err != nil {
		return nil, fmt.Errorf("target: data set: %w", err)
	}
	service, err := refserver.New(set, server)
	if err != nil {
		return nil, fmt.Errorf("target: %w", err)
	}
	if err := service.Listen(ctx, loopback, loopback); err != nil {
		return nil, errors.Join(fmt.Errorf("target: %w", err), service.Shutdown(ctx))
	}
	served := make(chan error, 1)
	go func() { served <- service.Serve() }()
	return &Target{
		BaseURL:  service.URL(),
		TruthURL: service.TruthURL(),
		Kind:     KindEmbedded,
		Profile:  at(profileOf(set, server), service.URL()),
		stop: func(ctx context.Context) error {
			return errors.Join(service.Shutdown(ctx), <-served)
		},
	}, nil
}

// profileOf returns the profile of the reference server with the data. Only the
// default limiters are promised in it: others are the caller's to know.
func profileOf(set *dataset.Data, server refserver.Options) *fixtures.Profile {
	profile := fixtures.FromDataset(set)
	if server.Limiters != nil && profile.RateLimit != nil {
		profile.RateLimit.Requests, profile.RateLimit.Per = 0, 0
	}
	return profile
}

package runner

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/suites/api"
)

// Environment is a target and what the specs need to judge it.
type Environment struct {
	*api.Env
	Target *target.Target
}

// FromEnvironment opens the target that OUTREACH_TARGET and
// OUTREACH_TARGET_PROFILE name, for suites.Tree.Register: the embedded reference
// server, an address, image:NAME or dockerfile:PATH, just as the command line
// does. The seed decides what is generated.
func FromEnvironment(ctx context.Context, seed int64) (*Environment, error) {
	t, err := target.FromEnvironment(ctx)
	if err != nil {
		return nil, err
	}
	env, err := NewEnv(Config{Target: t, Seed: uint64(seed)})
	if err != nil {
		return nil, err
	}
	if suite, _ := ginkgo.GinkgoConfiguration(); suite.ParallelTotal > 1 {
		env.Run = sandbox.RunOf(uuid.NewString(), suite.ParallelHost).ID // the processes are one run
	}
	return &Environment{env, t}, nil
}

// closeTimeout bounds how long stopping a target may take.
const closeTimeout = 30 * time.Second

// Close closes the connections and stops what was started for the target.
func (e *Environment) Close() error {
	e.Client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	return e.Target.Close(ctx)
}

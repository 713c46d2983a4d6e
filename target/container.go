package target

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/network"

	"outreach.example/conformance/fixtures"
)

// takeDownTimeout bounds taking down a target that did not come up.
const takeDownTimeout = 30 * time.Second

// ErrProfile: what the profile says of containers cannot be followed: a file is
// missing, or a port is not named. The error that wraps it says what.
var ErrProfile = errors.New("the profile cannot be followed")

// Container starts the target that the profile describes under container, and
// returns when it is ready. What the containers write goes to logs, line by
// line and without the profile's tokens. Everything that is started bears the
// label of the run id, and Close takes all of it down; so does Container itself
// when it fails, and Sweep when the process was killed. The context bounds the
// start only.
//
// An error tells what stood in the way, and the last lines that the container wrote.
func Container(ctx context.Context, profile *fixtures.Profile, runID string, logs io.Writer) (*Target, error) {
	if profile == nil || profile.Container == nil {
		return nil, fmt.Errorf("target: %w: it has no container: give an image or a dockerfile there", ErrProfile)
	}
	config, err := profile.TLS.Config()
	if err != nil {
		return nil, fmt.Errorf("target: %w: %w", ErrProfile, err)
	}
	docker, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	d := &deployment{engine: docker, profile: profile, label: labelOf(runID), tls: config, log: newLogbook(logs, secretsOf(profile))}
	if err := docker.sweep(ctx); err != nil {
		d.log.say("left as it is: %v", err) // somebody else's leftovers do not stop this run
	}
	base, err := d.up(ctx)
	if err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), takeDownTimeout)
		defer cancel()
		return nil, errors.Join(fmt.Errorf("target: %w", err), d.down(ctx))
	}
	return &Target{BaseURL: base, Kind: kindOf(profile.Container.Container), Profile: at(profile, base), TLS: config, stop: d.down}, nil
}

// kindOf names how the target's image comes about.
func kindOf(c fixtures.Container) string {
	if c.Image != "" {
		return KindImage
	}
	return KindDockerfile
}

// deployment is the containers of one run.
type deployment struct {
	engine  *engine
	profile *fixtures.Profile
	label   string // value of labelRun on everything that is started
	tls     *tls.Config
	network string // its name; empty when the target is alone
	log     *logbook

	brokenOff bool // an interruption came while an image was built
}

// up starts the services and then the target, and returns the target's address.
func (d *deployment) up(ctx context.Context) (base string, err error) {
	wanted := d.profile.Container
	if len(wanted.Services) > 0 || len(wanted.Aliases) > 0 {
		creating, cancel := unbroken(ctx)
		defer cancel()
		made, err := network.New(creating, network.WithLabels(d.labels()))
		if err != nil {
			return "", fmt.Errorf("the network of the containers: %w", err)
		}
		d.network = made.Name
	}
	for _, s := range wanted.Services {
		if _, err := d.start(ctx, box{Container: s.Container, name: s.Name, aliases: append([]string{s.Name}, s.Aliases...), ready: d.serviceReady}); err != nil {
			return "", err
		}
	}
	return d.start(ctx, box{Container: wanted.Container, name: targetName, aliases: wanted.Aliases, isTarget: true, ready: d.targetReady})
}

// targetName stands for the target's container in logs and messages.
const targetName = "target"

// box is one container to start.
type box struct {
	fixtures.Container
	name     string
	aliases  []string
	isTarget bool // its port is reached from here, whether the profile names it or the image
	ready    func(ctx context.Context, b box, address string) (answered string, ok bool)
}

// start brings a container up and waits until it is ready. It returns the
// address of its port from here; empty for one without a port.
func (d *deployment) start(ctx context.Context, b box) (address string, err error) {
	image, err := d.image(ctx, b)
	if err != nil {
		return "", fmt.Errorf("the container %s: %w", b.name, err)
	}
	exposed, err := d.engine.exposedPorts(ctx, image)
	if err != nil {
		return "", fmt.Errorf("the container %s: %w", b.name, err)
	}
	if b.isTarget && b.Port == 0 {
		if len(exposed) != 1 {
			return "", fmt.Errorf("%w: the target's image exposes %d TCP ports %v: say with container.port on which the API is served", ErrProfile, len(exposed), exposed)
		}
		b.Port = exposed[0]
	}
	request, err := d.request(b, image, exposed)
	if err != nil {
		return "", fmt.Errorf("the container %s: %w: %w", b.name, ErrProfile, err)
	}
	d.log.say("starting %s", b.name)
	made, err := create(ctx, request)
	if made == nil {
		return "", fmt.Errorf("the container %s: %w", b.name, err)
	}
	id := made.GetContainerID()
	if err == nil {
		err = made.Start(ctx)
	}
	if err != nil {
		return "", d.explain(ctx, b, id, fmt.Errorf("did not start: %w", err))
	}
	if b.Port != 0 {
		if address, err = published(ctx, made, b.Port); err != nil {
			return "", d.explain(ctx, b, id, err)
		}
	}
	if err := d.await(ctx, b, id, address); err != nil {
		return "", d.explain(ctx, b, id, err)
	}
	if b.isTarget {
		address = d.scheme() + "://" + address
	}
	d.log.say("%s is ready", b.name)
	return address, nil
}

// createTimeout bounds what takes the engine no time.
const createTimeout = 30 * time.Second

// unbroken is the context for creating something. An interruption does not break
// it off: the engine would go on, and the thing come into being when all that
// bears the label has been looked for and removed.
func unbroken(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), createTimeout)
}

// create makes a container without starting it.
func create(ctx context.Context, request testcontainers.GenericContainerRequest) (testcontainers.Container, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ctx, cancel := unbroken(ctx)
	defer cancel()
	return testcontainers.GenericContainer(ctx, request)
}

// labels are those of everything that is started.
func (d *deployment) labels() map[string]string { return map[string]string{labelRun: d.label} }

// scheme is https where the profile says how to speak TLS.
func (d *deployment) scheme() string {
	if d.tls != nil {
		return "https"
	}
	return "http"
}

// published returns the address under which a container's port is reached from here.
func published(ctx context.Context, c testcontainers.Container, port int) (string, error) {
	host, err := c.Host(ctx)
	if err != nil {
		return "", err
	}
	mapped, err := c.MappedPort(ctx, strconv.Itoa(port)+"/tcp")
	if err != nil {
		return "", fmt.Errorf("port %d is not published: %w", port, err)
	}
	return net.JoinHostPort(host, mapped.Port()), nil
}

// An engine ends the step of a build at which it stands when the build is broken
// off, and has an image afterwards. Steps that set a label take it about a second.
const (
	lastStep      = 3 * time.Second
	lastStepPause = 250 * time.Millisecond
)

// down stops and removes all that the run has started, in the time that the
// context gives, and waits for the logs to end.
func (d *deployment) down(ctx context.Context) error {
	err := d.engine.remove(ctx, d.label)
	if d.brokenOff && err == nil {
		err = d.removeLate(ctx)
	}
	d.log.wait(ctx, d.log.names()...)
	if err != nil {
		return fmt.Errorf("target: taking the containers down: %w; the next run tries again", err)
	}
	return nil
}

// removeLate removes what comes into being while a build ends that was broken off.
func (d *deployment) removeLate(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lastStep)
	defer cancel()
	again := time.NewTicker(lastStepPause)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-again.C:
		}
		if err := d.engine.remove(ctx, d.label); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

package target

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"outreach.example/conformance/fixtures"
)

// Pauses and bounds while a container comes up.
const (
	pollInterval  = 100 * time.Millisecond
	attemptLimit  = 2 * time.Second        // of one attempt to see whether it is ready
	settleTime    = 200 * time.Millisecond // how long a service must hold a connection open
	inspectBudget = 5 * time.Second        // for finding out why a container failed
)

// Why a container that was started is of no use.
var (
	errExited   = errors.New("it exited")
	errNotReady = errors.New("was not ready within")
)

// await asks until the container is ready, has exited, or its time is over.
func (d *deployment) await(ctx context.Context, b box, id, address string) error {
	timeout := b.Wait.Timeout
	if timeout <= 0 {
		timeout = fixtures.DefaultWaitTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("%w %s", errNotReady, timeout))
	defer cancel()
	answered := "nothing yet"
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		state, err := d.engine.api.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
		if err == nil && state.Container.State != nil && !state.Container.State.Running {
			return errExited
		}
		if err == nil {
			attempt, done := context.WithTimeout(ctx, attemptLimit)
			said, ready := b.ready(attempt, b, address)
			done()
			if ready {
				return nil
			}
			if ctx.Err() == nil { // else the attempt was cut short
				answered = said
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; its last answer: %s", context.Cause(ctx), answered)
		case <-tick.C:
		}
	}
}

// targetReady asks over HTTP; any answer of the API's own will do where the
// profile names no path.
func (d *deployment) targetReady(ctx context.Context, b box, address string) (string, bool) {
	if b.Wait.Path == "" {
		b.Wait.Path = probePath
	}
	return get(ctx, d.scheme()+"://"+address, b, d.tls)
}

// serviceReady asks a service over HTTP if it has a path to ask for; else its
// port must hold a connection open, and without a port it only has to run.
func (d *deployment) serviceReady(ctx context.Context, b box, address string) (string, bool) {
	switch {
	case b.Port == 0:
		return "", true
	case b.Wait.Path != "":
		return get(ctx, "http://"+address, b, nil)
	default:
		return holdsConnection(ctx, address)
	}
}

// get asks for the path that the container is ready at, and reports what came.
func get(ctx context.Context, base string, b box, config *tls.Config) (answered string, ok bool) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+b.Wait.Path, nil)
	if err != nil {
		return err.Error(), false
	}
	request.Header.Set("User-Agent", userAgent)
	transport := &http.Transport{TLSClientConfig: config, DisableKeepAlives: true} // and no proxy: the container is here
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return fmt.Sprintf("none from GET %s on port %d (%v)", b.Wait.Path, b.Port, err), false
	}
	_ = answer.Body.Close()
	wanted := answer.StatusCode < http.StatusInternalServerError
	if b.Wait.Status != 0 {
		wanted = answer.StatusCode == b.Wait.Status
	}
	return fmt.Sprintf("%d from GET %s on port %d", answer.StatusCode, b.Wait.Path, b.Port), wanted
}

// holdsConnection connects and looks whether the connection stays. The engine's
// proxy takes connections for a port that nobody listens on, and closes them.
func holdsConnection(ctx context.Context, address string) (string, bool) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return err.Error(), false
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetReadDeadline(time.Now().Add(settleTime))
	_, err = io.ReadFull(conn, make([]byte, 1))
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return "", true
	}
	return "the connection was closed at once", false
}

// explain adds to an error what the container itself can tell: how it ended,
// and the last lines that it wrote.
func (d *deployment) explain(ctx context.Context, b box, id string, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), inspectBudget)
	defer cancel()
	found, inspectErr := d.engine.api.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	if state := found.Container.State; inspectErr == nil && state != nil && !state.Running && state.Status != container.StateCreated {
		d.log.wait(ctx, b.name) // all that it wrote is there to be read
		switch {
		case state.OOMKilled:
			err = errors.New("ran out of memory before it was ready")
		case state.Error != "":
			err = errors.New(state.Error)
		default:
			err = fmt.Errorf("exited with code %d before it was ready", state.ExitCode)
		}
		return fmt.Errorf("the container %s %w%s", b.name, err, d.log.lastLines(b.name))
	}
	advice := ""
	if errors.Is(err, errNotReady) && b.Port != 0 {
		advice = "; check port and wait in the profile, and that the server listens on 0.0.0.0 and not on 127.0.0.1 inside the container"
	}
	return fmt.Errorf("the container %s %w%s%s", b.name, err, advice, d.log.lastLines(b.name))
}

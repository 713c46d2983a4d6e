package target

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/moby/moby/client"
	tclog "github.com/testcontainers/testcontainers-go/log"
)

// probeTimeout bounds the question whether a Docker engine is there at all, so
// that who has none is told within two seconds. The Docker libraries would hang,
// or fall back to another engine without a word.
const probeTimeout = 1800 * time.Millisecond

// ErrNoDocker: there is no Docker engine to start containers on. The error that
// wraps it names what was probed.
var ErrNoDocker = errors.New("no Docker engine")

// engine is the Docker engine that containers run on.
type engine struct {
	api   *client.Client
	local bool // on this machine: its ports are published on 127.0.0.1 alone
}

// connect finds the engine and prepares testcontainers for it.
func connect(ctx context.Context) (*engine, error) {
	asked, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	host, err := probe(asked, os.Getenv("DOCKER_HOST"), usualSockets())
	if err != nil {
		return nil, fmt.Errorf("target: %w", err)
	}
	api, err := client.New(client.FromEnv, client.WithHost(host))
	if err != nil {
		return nil, fmt.Errorf("target: %w at %s: %w", ErrNoDocker, host, err)
	}
	if _, err := api.Ping(asked, client.PingOptions{NegotiateAPIVersion: true}); err != nil {
		return nil, fmt.Errorf("target: %w: something listens at %s, but it does not answer as Docker does: %w", ErrNoDocker, host, err)
	}
	return &engine{api: api, local: prepare(ctx, api, host)}, nil
}

// usualSockets are where an engine listens that no DOCKER_HOST names.
func usualSockets() []string {
	sockets := []string{"unix:///var/run/docker.sock"}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		sockets = append(sockets, "unix://"+filepath.Join(dir, "docker.sock"))
	}
	if home, err := os.UserHomeDir(); err == nil {
		sockets = append(sockets, "unix://"+filepath.Join(home, ".docker/run/docker.sock"))
	}
	return sockets
}

// probe returns the address of the engine: that of DOCKER_HOST if it is set,
// and no other, else the first of the usual ones that takes a connection.
func probe(ctx context.Context, configured string, usual []string) (string, error) {
	candidates, advice := usual, "start Docker, or set DOCKER_HOST (`docker context inspect` shows the address of a context)"
	if configured != "" {
		candidates, advice = []string{configured}, "start Docker there, or unset DOCKER_HOST"
	}
	var failed []error
	for _, candidate := range candidates {
		err := dial(ctx, candidate)
		if err == nil {
			return candidate, nil
		}
		if errors.Is(err, fs.ErrPermission) {
			advice = "this user may not use Docker: add it to the group docker, or use an engine without root"
		}
		failed = append(failed, fmt.Errorf("%s: %w", candidate, err))
	}
	return "", fmt.Errorf("%w: probed %w; %s", ErrNoDocker, errors.Join(failed...), advice)
}

// dial connects to the engine's address and hangs up.
func dial(ctx context.Context, host string) error {
	u, err := url.Parse(host)
	if err != nil {
		return errors.New("this is no address of a Docker engine")
	}
	network, address := u.Scheme, u.Host
	switch u.Scheme {
	case "unix":
		address = u.Path
	case "tcp":
	case "http", "https":
		network = "tcp"
	default:
		return fmt.Errorf("the scheme %q is not supported: use unix:// or tcp://", u.Scheme)
	}
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return err
	}
	return conn.Close()
}

// preparing guards the process environment, by which alone testcontainers can be told.
var preparing sync.Mutex

// prepare sets what testcontainers reads at its first call, and reports whether
// the engine's ports are reached on 127.0.0.1.
//
// Its own cleaner, Ryuk, is switched off: its image would have to be pulled.
// Labels and Sweep do its work. And where /.dockerenv exists testcontainers
// takes the gateway for the engine's host, which is right only in a container
// of this very engine.
func prepare(ctx context.Context, api *client.Client, host string) (local bool) {
	preparing.Lock()
	defer preparing.Unlock()
	tclog.SetDefault(tclog.NewNoopLogger())
	set := func(name, value string) {
		if os.Getenv(name) == "" {
			_ = os.Setenv(name, value) // fails for a malformed name alone
		}
	}
	_ = os.Setenv("TESTCONTAINERS_RYUK_DISABLED", "true")
	set("DOCKER_HOST", host)
	u, err := url.Parse(host)
	onSocket := err == nil && u.Scheme == "unix"
	if onSocket && exists("/.dockerenv") && !insideOf(ctx, api) {
		set("TESTCONTAINERS_HOST_OVERRIDE", "127.0.0.1")
	}
	switch override := os.Getenv("TESTCONTAINERS_HOST_OVERRIDE"); {
	case override != "":
		return override == "127.0.0.1" || override == "localhost"
	default:
		return onSocket && !exists("/.dockerenv")
	}
}

// insideOf reports whether this process runs in a container of the engine,
// whose short id is then the host name.
func insideOf(ctx context.Context, api *client.Client) bool {
	name, err := os.Hostname()
	if err != nil {
		return false
	}
	_, err = api.ContainerInspect(ctx, name, client.ContainerInspectOptions{})
	return err == nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// alive reports whether a process of this machine runs.
func alive(pid int) bool {
	process, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	err = process.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, fs.ErrPermission)
}

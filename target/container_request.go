package target

import (
	"fmt"
	"maps"
	"net/netip"
	"os"
	"slices"
	"strconv"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/testcontainers/testcontainers-go"
	tclog "github.com/testcontainers/testcontainers-go/log"
)

// request says to testcontainers what the profile says of a container. exposed
// are the ports that the image itself exposes.
func (d *deployment) request(b box, image string, exposed []int) (testcontainers.GenericContainerRequest, error) {
	request := testcontainers.GenericContainerRequest{Logger: tclog.NewNoopLogger()}
	request.Image = image
	request.Labels = d.labels()
	request.Env = b.Environment
	request.Cmd = b.Command
	if d.network != "" {
		request.Networks = []string{d.network}
		request.NetworkAliases = map[string][]string{d.network: b.aliases}
	}
	if b.Port != 0 {
		request.ExposedPorts = []string{strconv.Itoa(b.Port) + "/tcp"}
	}
	if d.engine.local {
		request.HostConfigModifier = onLoopback(append(exposed, b.Port))
	}
	request.LifecycleHooks = []testcontainers.ContainerLifecycleHooks{{
		PostStarts: []testcontainers.ContainerHook{d.follow(b.name)},
	}}
	files, err := filesOf(b.Files)
	request.Files = files
	return request, err
}

// filesOf returns the files to copy into a container, with the permissions that they have here.
func filesOf(paths map[string]string) ([]testcontainers.ContainerFile, error) {
	var files []testcontainers.ContainerFile
	for _, host := range slices.Sorted(maps.Keys(paths)) {
		info, err := os.Stat(host)
		if err != nil {
			return nil, fmt.Errorf("files: %w", err)
		}
		files = append(files, testcontainers.ContainerFile{HostFilePath: host, ContainerFilePath: paths[host], FileMode: int64(info.Mode().Perm())})
	}
	return files, nil
}

// onLoopback publishes the ports for this machine alone: a target under test is
// nobody else's business. testcontainers publishes what the image exposes even
// where no port is asked for, and would do so on all addresses.
func onLoopback(ports []int) func(*container.HostConfig) {
	return func(config *container.HostConfig) {
		config.PortBindings = network.PortMap{}
		for _, number := range ports {
			if port, ok := network.PortFrom(uint16(number), network.TCP); ok {
				config.PortBindings[port] = []network.PortBinding{{HostIP: netip.MustParseAddr("127.0.0.1")}}
			}
		}
	}
}

package target

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/authconfig"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	tclog "github.com/testcontainers/testcontainers-go/log"

	"outreach.example/conformance/fixtures"
)

// image returns the name of the container's image, which is then on the engine:
// built, pulled, or there already.
func (d *deployment) image(ctx context.Context, b box) (string, error) {
	origins := 0
	for _, given := range []bool{b.Image != "", b.Dockerfile != "", b.Archive != nil} {
		if given {
			origins++
		}
	}
	if origins != 1 {
		return "", fmt.Errorf("%w: want one of an image, a dockerfile and an archive, found %d", ErrProfile, origins)
	}
	if b.Image != "" {
		return b.Image, d.engine.fetch(ctx, b.Image, d.log)
	}
	build, err := buildOf(b.Container)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrProfile, err)
	}
	provider, err := testcontainers.NewDockerProvider(testcontainers.WithLogger(tclog.NewNoopLogger()))
	if err != nil {
		return "", err
	}
	defer func() { _ = provider.Close() }()
	d.log.say("building the image of %s", b.name)
	output := d.log.from(b.name + " (build)")
	defer output.flush()
	build.BuildLogWriter = output
	build.KeepImage = true // or else it gets testcontainers' own labels too
	build.BuildOptionsModifier = func(options *client.ImageBuildOptions) { options.Labels = d.labels() }
	name, err := provider.BuildImage(ctx, &testcontainers.ContainerRequest{FromDockerfile: build})
	if err != nil {
		d.brokenOff = ctx.Err() != nil
		return "", fmt.Errorf("its image cannot be built: %w%s", err, d.log.lastLines(b.name+" (build)"))
	}
	return name, nil
}

// buildOf returns what an image is built from.
func buildOf(c fixtures.Container) (testcontainers.FromDockerfile, error) {
	if c.Archive != nil {
		return testcontainers.FromDockerfile{ContextArchive: bytes.NewReader(c.Archive), Dockerfile: "Dockerfile"}, nil
	}
	folder := c.Context
	if folder == "" {
		folder = filepath.Dir(c.Dockerfile)
	}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return testcontainers.FromDockerfile{}, fmt.Errorf("context: there is no directory %s", folder)
	}
	file, err := filepath.Rel(folder, c.Dockerfile)
	if err != nil || !filepath.IsLocal(file) {
		return testcontainers.FromDockerfile{}, fmt.Errorf("dockerfile: %s is not in the build context %s", c.Dockerfile, folder)
	}
	if info, err := os.Stat(c.Dockerfile); err != nil || !info.Mode().IsRegular() {
		return testcontainers.FromDockerfile{}, fmt.Errorf("dockerfile: there is no file %s", c.Dockerfile)
	}
	return testcontainers.FromDockerfile{Context: folder, Dockerfile: filepath.ToSlash(file)}, nil
}

// fetch makes sure that the image is on the engine. It pulls once:
// testcontainers would repeat a pull that cannot succeed for a quarter of an hour.
func (e *engine) fetch(ctx context.Context, image string, log *logbook) error {
	_, err := e.api.ImageInspect(ctx, image)
	if err == nil || !errdefs.IsNotFound(err) {
		return err
	}
	log.say("pulling %s", image)
	var options client.ImagePullOptions
	if _, auth, err := testcontainers.DockerImageAuth(ctx, image); err == nil {
		if options.RegistryAuth, err = authconfig.Encode(auth); err != nil {
			return fmt.Errorf("the registry's credentials: %w", err)
		}
	}
	pull, err := e.api.ImagePull(ctx, image, options)
	if err == nil {
		err = errors.Join(pull.Wait(ctx), pull.Close())
	}
	if err != nil {
		return fmt.Errorf("the image %s is not on the engine and cannot be pulled: %w; build or load it first, or check its name and registry", image, err)
	}
	return nil
}

// exposedPorts returns the TCP ports that the image exposes, in order.
func (e *engine) exposedPorts(ctx context.Context, image string) ([]int, error) {
	found, err := e.api.ImageInspect(ctx, image)
	if err != nil || found.Config == nil {
		return nil, err
	}
	var ports []int
	for text := range found.Config.ExposedPorts {
		if port, err := network.ParsePort(text); err == nil && port.Proto() == network.TCP {
			ports = append(ports, int(port.Num()))
		}
	}
	slices.Sort(ports)
	return ports, nil
}

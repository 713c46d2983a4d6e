package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// writeImage writes the image of the Dockerfile with the binary, as an archive for
// docker load. It needs no container engine, which would put the time of the build into
// the image.
func writeImage(from source, p platform, binary, archive string) error {
	text, err := os.ReadFile(filepath.Join(from.root, "Dockerfile"))
	if err != nil {
		return err
	}
	described, err := readDockerfile(string(text))
	if err != nil {
		return err
	}
	content, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	// The working directory must exist in a container that cannot write.
	files := []file{
		{strings.TrimPrefix(described.binary, "/"), 0o755, content},
		{strings.TrimPrefix(described.config.WorkingDir, "/") + "/", fs.ModeDir | 0o755, nil},
	}
	var layered bytes.Buffer
	if err := writeTar(&layered, files, from.time); err != nil {
		return err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(layered.Bytes())), nil })
	if err != nil {
		return err
	}
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return err
	}
	configured, err := image.ConfigFile()
	if err != nil {
		return err
	}
	configured = configured.DeepCopy()
	configured.OS, configured.Architecture, configured.Created = p.os, p.arch, v1.Time{Time: from.time}
	configured.Config = described.config
	configured.Config.Labels = map[string]string{
		"org.opencontainers.image.title":    program,
		"org.opencontainers.image.version":  from.version,
		"org.opencontainers.image.revision": from.commit,
		"org.opencontainers.image.licenses": licence,
	}
	configured.History = []v1.History{{Created: v1.Time{Time: from.time}, CreatedBy: "make release"}}
	if image, err = mutate.ConfigFile(image, configured); err != nil {
		return err
	}
	tag, err := name.NewTag(imageName(from.version))
	if err != nil {
		return err
	}
	return tarball.WriteToFile(archive, tag, image)
}

// imageName returns the name of the image. A tag has no plus sign.
func imageName(version string) string { return program + ":" + strings.ReplaceAll(version, "+", "-") }

// dockerfile is what the Dockerfile says about the image.
type dockerfile struct {
	binary string // its path in the image
	config v1.Config
}

// readDockerfile reads a Dockerfile that adds one file to an empty image. Other
// instructions are errors, because the image would lack what they do.
func readDockerfile(text string) (dockerfile, error) {
	var d dockerfile
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		instruction, value, _ := strings.Cut(line, " ")
		if err := d.read(instruction, value); err != nil {
			return dockerfile{}, fmt.Errorf("read Dockerfile: %s: %w", instruction, err)
		}
	}
	if d.binary == "" || len(d.config.Entrypoint) == 0 || d.config.WorkingDir == "" {
		return dockerfile{}, errors.New("read Dockerfile: COPY, ENTRYPOINT or WORKDIR is missing")
	}
	return d, nil
}

func (d *dockerfile) read(instruction, value string) error {
	switch instruction {
	case "FROM":
		if value != "scratch" {
			return fmt.Errorf("%q: want scratch", value)
		}
	case "COPY":
		from, to, _ := strings.Cut(value, " ")
		if from != "bin/"+program || !path.IsAbs(to) || d.binary != "" {
			return fmt.Errorf("%q: want the binary alone", value)
		}
		d.binary = to
	case "USER":
		d.config.User = value
	case "WORKDIR":
		d.config.WorkingDir = value
	case "EXPOSE":
		d.config.ExposedPorts = map[string]struct{}{value + "/tcp": {}}
	case "ENTRYPOINT":
		return json.Unmarshal([]byte(value), &d.config.Entrypoint)
	case "CMD":
		return json.Unmarshal([]byte(value), &d.config.Cmd)
	default:
		return errors.New("unknown instruction (teach it to tools/release)")
	}
	return nil
}

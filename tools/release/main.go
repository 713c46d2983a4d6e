// Command release builds the files of a release into a directory: for each platform an
// archive with the static binary and a list of its modules (CycloneDX), for Linux also
// an image, and the SHA-256 checksums of all.
//
// The same commit, version of Go and version give the same bytes: nothing in the files
// depends on the time, the machine or the directory of the build.
//
// It is in the module tools, so that its libraries stay out of the module that users
// build. It must not import packages of the program.
package main

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// program is the name of the binary, of the image, and of the files of a release.
const program = "outreach-conformance"

// checksumsFile lists the SHA-256 checksums of the other files, for sha256sum -c.
const checksumsFile = "checksums.txt"

// released are the platforms of a release.
var released = []platform{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

// platform is what a binary runs on.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "/" + p.arch }

// binary returns the name of the binary in the archive.
func (p platform) binary() string {
	if p.os == "windows" {
		return program + ".exe"
	}
	return program
}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "release: %v\n", err)
		os.Exit(1)
	}
}

// run builds the release that the arguments describe, and prints its files to w.
func run(args []string, w io.Writer) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	root := flags.String("source", ".", "directory of the repository")
	output := flags.String("output", "dist", "directory for the files")
	version := flags.String("version", "", "version of the release, such as v1.2.3 (default: the tag of the commit, or a version made of its time and id)")
	platforms := flags.String("platforms", "all", "what to build for: all, host, or platforms such as linux/amd64,darwin/arm64")
	dirty := flags.Bool("allow-dirty", false, "build although the working tree has changes; the version then ends with +dirty")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unknown argument %q (the settings are flags)", flags.Arg(0))
	}
	chosen, err := parsePlatforms(*platforms)
	if err != nil {
		return err
	}
	from, err := readSource(*root, *version, *dirty)
	if err != nil {
		return err
	}
	return build(from, *output, chosen, w)
}

// parsePlatforms returns the platforms that a flag names.
func parsePlatforms(text string) ([]platform, error) {
	switch text {
	case "all":
		return released, nil
	case "host":
		text = runtime.GOOS + "/" + runtime.GOARCH
	}
	var chosen []platform
	for name := range strings.SplitSeq(text, ",") {
		i := slices.IndexFunc(released, func(p platform) bool { return p.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("platform %q: not released (want all, host or some of %v)", name, released)
		}
		chosen = append(chosen, released[i])
	}
	return chosen, nil
}

// build writes all files of the release into the directory and prints their names.
func build(from source, output string, platforms []platform, w io.Writer) error {
	if err := clear(output); err != nil {
		return err
	}
	temporary, err := os.MkdirTemp("", "release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	if _, err := fmt.Fprintf(w, "%s %s, commit %s\n", program, from.version, from.commit); err != nil {
		return err
	}
	for _, p := range platforms {
		binary := filepath.Join(temporary, p.os, p.arch, p.binary())
		if err := compile(from, p, binary); err != nil {
			return err
		}
		if err := pack(from, p, binary, output); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		if _, err := fmt.Fprintf(w, "built %s\n", p); err != nil {
			return err
		}
	}
	return sum(output, w)
}

// pack writes the files of one platform.
func pack(from source, p platform, binary, output string) error {
	base := filepath.Join(output, fmt.Sprintf("%s_%s_%s_%s", program, from.version, p.os, p.arch))
	if err := writeSBOM(from, binary, base+".cdx.json"); err != nil {
		return err
	}
	if err := writeArchive(from, p, binary, base); err != nil {
		return err
	}
	if p.os != "linux" {
		return nil
	}
	return writeImage(from, p, binary, base+".image.tar")
}

// clear creates the directory and removes the files of an earlier release from it.
func clear(output string) error {
	if err := os.MkdirAll(output, 0o755); err != nil {
		return err
	}
	files, err := releaseFiles(output)
	if err != nil {
		return err
	}
	failed := []error{}
	for _, name := range append(files, checksumsFile) {
		if err := os.Remove(filepath.Join(output, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// releaseFiles returns the names of the files of a release, without the checksums.
func releaseFiles(output string) ([]string, error) {
	entries, err := os.ReadDir(output)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), program+"_") {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// sum writes the checksums of the files, and prints them.
func sum(output string, w io.Writer) error {
	names, err := releaseFiles(output)
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(output, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&lines, "%x  %s\n", sha256.Sum256(content), name)
	}
	if err := os.WriteFile(filepath.Join(output, checksumsFile), []byte(lines.String()), 0o644); err != nil { //nolint:gosec // to be published
		return err
	}
	_, err = io.WriteString(w, lines.String())
	return err
}

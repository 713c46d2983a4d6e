package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// source is the commit that a release is built from.
type source struct {
	root    string
	version string
	commit  string
	time    time.Time // of the commit; every time in the files of a release
}

// readSource returns the checked-out commit of the repository. Version may be empty. It
// returns an error if the working tree has changes, unless dirty is set.
func readSource(root, version string, dirty bool) (source, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return source{}, err
	}
	s := source{root: root}
	head, err := s.git("log", "-1", "--format=%H %ct")
	if err != nil {
		return source{}, err
	}
	id, seconds, _ := strings.Cut(head, " ")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return source{}, fmt.Errorf("time of the commit: %w", err)
	}
	s.commit, s.time = id, time.Unix(unix, 0).UTC()
	tagged := true
	if s.version, tagged, err = s.named(version); err != nil {
		return source{}, err
	}
	changed, err := s.git("status", "--porcelain")
	switch {
	case err != nil:
		return source{}, err
	case changed != "" && !dirty:
		return source{}, fmt.Errorf("the working tree has changes: a release is a commit (commit them, or ALLOW_DIRTY=1 to try):\n%s", changed)
	case !tagged && !dirty:
		return source{}, fmt.Errorf("version %s: the commit does not have this tag (git tag -a %[1]s -m %[1]s, or ALLOW_DIRTY=1 to try)", version)
	case changed != "" || !tagged:
		s.version += "+dirty"
	}
	return s, nil
}

// named returns the given version, or by default that of the commit: its tag, or a
// version made of the last tag, the time and the id, as Go makes it. It reports whether the
// commit has the version that was given as a tag.
func (s source) named(version string) (name string, tagged bool, err error) {
	if version != "" {
		tagged, err = s.checkVersion(version)
		return version, tagged, err
	}
	tag, err := s.latestTag("--points-at", "HEAD")
	if err != nil || tag != "" {
		return tag, true, err
	}
	last, err := s.latestTag("--merged", "HEAD")
	if err != nil {
		return "", true, err
	}
	major := "v0"
	if last != "" {
		major = semver.Major(last)
	}
	return module.PseudoVersion(major, last, s.time, s.commit[:12]), true, nil
}

// checkVersion returns an error unless version is a semantic version whose tag, if there
// is one, is this commit. It reports whether there is one.
func (s source) checkVersion(version string) (tagged bool, err error) {
	if semver.Canonical(version) != version {
		return false, fmt.Errorf("version %q: not a semantic version (want v1.2.3, or v1.2.3-rc.1)", version)
	}
	tags, err := s.git("tag", "--list", version)
	if err != nil || tags == "" {
		return false, err
	}
	other, err := s.git("rev-parse", "refs/tags/"+version+"^{commit}")
	if err == nil && other != s.commit {
		err = fmt.Errorf("version %s: its tag is another commit, %.12s (check it out)", version, other)
	}
	return true, err
}

// latestTag returns the highest version among the tags that git lists; empty without any.
func (s source) latestTag(which ...string) (string, error) {
	tags, err := s.git(append([]string{"tag", "--list", "v*"}, which...)...)
	latest := ""
	for tag := range strings.FieldsSeq(tags) {
		if semver.Canonical(tag) == tag && (latest == "" || semver.Compare(tag, latest) > 0) {
			latest = tag
		}
	}
	return latest, err
}

// git returns the output of a git command in the repository.
func (s source) git(args ...string) (string, error) {
	// The repository may belong to another user, as in a CI job.
	cmd := exec.Command("git", append([]string{"-C", s.root, "-c", "safe.directory=" + s.root}, args...)...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(string(exit.Stderr)))
	}
	return strings.TrimRight(string(out), "\n"), err
}

// compile builds the static binary for a platform.
func compile(from source, p platform, binary string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X main.stamped="+from.version+" -X main.stampedCommit="+from.commit, "-o", binary, "./cmd/"+program)
	cmd.Dir = from.root
	// The bytes must not depend on settings of the user. The linker drops what debuggers
	// need (-s -w), so the compiler does not write it.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.os, "GOARCH="+p.arch, "GOAMD64=v1", "GOARM64=v8.0",
		"GOFLAGS=-trimpath -gcflags=all=-dwarf=false", "GOWORK=off", "GOEXPERIMENT=", "GOFIPS140=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build for %s: %w\n%s", p, err, out)
	}
	return nil
}

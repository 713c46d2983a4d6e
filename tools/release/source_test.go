package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// emptyRepository returns the directory of a repository with one commit.
func emptyRepository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	command(t, dir, "git", "init", "-q")
	commit(t, dir)
	return dir
}

func TestTheVersionIsThatOfTheCommit(t *testing.T) {
	dir := emptyRepository(t)
	version := func(given string) string {
		t.Helper()
		s, err := readSource(dir, given, false)
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(s.version, s.commit[:12], "ID")
	}
	expect := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("the version is %s, want %s", got, want)
		}
	}
	expect(version(""), "v0.0.0-20260102030405-ID")
	if _, err := readSource(dir, "v2.0.0-rc.1", false); err == nil || !strings.Contains(err.Error(), "the commit does not have this tag") {
		t.Errorf("a version without a tag: %v", err)
	}
	for _, tag := range []string{"v1.9.0", "v1.10.0", "v1.10.0-rc.1", "v2", "vintage", "other"} {
		command(t, dir, "git", "tag", tag)
	}
	expect(version(""), "v1.10.0")
	expect(version("v1.9.0"), "v1.9.0")
	commit(t, dir)
	expect(version(""), "v1.10.1-0.20260102030405-ID")
	if _, err := readSource(dir, "v1.9.0", false); err == nil || !strings.Contains(err.Error(), "its tag is another commit") {
		t.Errorf("the tag of another commit: %v", err)
	}
}

func TestOnlySemanticVersions(t *testing.T) {
	dir := emptyRepository(t)
	for _, wrong := range []string{"1.2.3", "v1.2", "v1", "v01.2.3", "v1.2.3+meta", "v1.2.3 ", "latest", "v1.2.3-", "v1.2.3/../x", "-v"} {
		if _, err := readSource(dir, wrong, false); err == nil || !strings.Contains(err.Error(), "not a semantic version (want v1.2.3") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

func TestChangesAreRefused(t *testing.T) {
	dir := emptyRepository(t)
	if err := os.WriteFile(filepath.Join(dir, "new.go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := readSource(dir, "v1.2.3", false)
	if err == nil || !strings.Contains(err.Error(), "the working tree has changes") || !strings.Contains(err.Error(), "?? new.go") {
		t.Errorf("changes: %v", err)
	}
	s, err := readSource(dir, "v1.2.3", true)
	if err != nil || s.version != "v1.2.3+dirty" {
		t.Errorf("allowed changes: version %q, %v", s.version, err)
	}
	if name := imageName(s.version); name != "outreach-conformance:v1.2.3-dirty" {
		t.Errorf("the image is %s", name)
	}
}

func TestWithoutARepository(t *testing.T) {
	t.Setenv("GIT_CEILING_DIRECTORIES", os.TempDir())
	if _, err := readSource(t.TempDir(), "v1.2.3", true); err == nil || !strings.Contains(err.Error(), "git log: ") {
		t.Errorf("no repository: %v", err)
	}
}

func TestDockerfile(t *testing.T) {
	sound := string(read(t, filepath.Join(repository, "Dockerfile")))
	d, err := readDockerfile(sound)
	if err != nil || d.binary != "/outreach-conformance" || d.config.Entrypoint[0] != d.binary {
		t.Fatalf("%+v: %v", d, err)
	}
	for old, wrong := range map[string]string{
		"FROM scratch":             "FROM debian",
		"COPY bin/":                "COPY other/",
		"USER ":                    "RUN ",
		"WORKDIR /work\n":          "",
		`CMD ["serve", `:           `CMD "serve", `,
		"ENTRYPOINT":               "HEALTHCHECK",
		"EXPOSE 8025":              "COPY bin/outreach-conformance /again",
		"FROM scratch\nCOPY bin/o": "FROM scratch\nADD o",
	} {
		if damaged := strings.Replace(sound, old, wrong, 1); damaged == sound {
			t.Errorf("the Dockerfile has no %q", old)
		} else if _, err := readDockerfile(damaged); err == nil || !strings.HasPrefix(err.Error(), "read Dockerfile: ") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

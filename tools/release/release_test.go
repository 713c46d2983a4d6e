package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

// repository is the root of the repository.
const repository = "../.."

// command runs a command in a directory and returns its output.
func command(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	// The identity and the times of commits are those of the test.
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull,
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com",
		"GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return string(out)
}

func commit(t *testing.T, dir string) {
	t.Helper()
	command(t, dir, "git", "add", "-A")
	command(t, dir, "git", "commit", "-q", "--allow-empty", "-m", "A commit")
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// tooLarge bounds the binary, in bytes. About a third is the program's own code. Most of
// the rest are the standard library, the libraries for Ginkgo, OpenAPI, YAML and containers,
// and tables of text encodings.
// The program uses gonum's floats and mathext: gonum's stat would add 2 MB of linear algebra.
const tooLarge = 38_000_000

// TestRelease builds a release of this working tree for this machine, in two
// directories.
func TestRelease(t *testing.T) {
	version := fmt.Sprintf("v0.0.1-test.%d", os.Getpid()) // other tests load images too
	var dist, sums string
	for i, caller := range []string{"", "-tags=other"} {
		root := filepath.Join(t.TempDir(), strings.Repeat("deeper/", i), "source")
		command(t, repository, "tools/copy-tree", root)
		command(t, root, "git", "init", "-q")
		commit(t, root)
		command(t, root, "git", "tag", version)
		t.Setenv("GOFLAGS", caller) // which must not matter
		dist = filepath.Join(t.TempDir(), "dist")
		if err := run([]string{"-source", root, "-output", dist, "-platforms", "host"}, io.Discard); err != nil {
			t.Fatal(err)
		}
		built := string(read(t, filepath.Join(dist, checksumsFile)))
		if sums != "" && built != sums {
			t.Errorf("two builds of one commit differ:\n%s%s", sums, built)
		}
		sums = built
	}
	base := filepath.Join(dist, fmt.Sprintf("%s_%s_%s_%s", program, version, runtime.GOOS, runtime.GOARCH))
	checkSums(t, dist, sums)
	binary := extracted(t, base)
	if size := len(read(t, binary)); size >= tooLarge {
		t.Errorf("the binary has %d bytes, want less than %d (`go tool nm -size -sort size`, on a build without -s, shows what fills it)", size, tooLarge)
	}
	if out := command(t, dist, binary, "version"); !tellsVersion(out, version) {
		t.Errorf("version prints %q", out)
	}
	if out := command(t, dist, binary, "--version"); out != fmt.Sprintf("%s version %s\n", program, version) {
		t.Errorf("--version prints %q", out)
	}
	t.Run("SBOM", func(t *testing.T) { checkSBOM(t, binary, base+".cdx.json", version) })
	t.Run("reports", func(t *testing.T) { checkReports(t, binary, version) })
	t.Run("action", func(t *testing.T) { checkAction(t, dist, version) })
	t.Run("image", func(t *testing.T) { checkImage(t, base+".image.tar", version) })
}

// checkSums fails unless the checksums name every other file of the directory, and are
// right.
func checkSums(t *testing.T, dist, sums string) {
	t.Helper()
	entries, err := os.ReadDir(dist)
	if err != nil {
		t.Fatal(err)
	}
	want := ""
	for _, entry := range entries {
		if entry.Name() != checksumsFile {
			want += fmt.Sprintf("%x  %s\n", sha256.Sum256(read(t, filepath.Join(dist, entry.Name()))), entry.Name())
		}
	}
	if sums != want || strings.Count(sums, "\n") < 2 {
		t.Errorf("the checksums are\n%swant\n%s", sums, want)
	}
}

// extracted unpacks the archive and returns the path of the binary.
func extracted(t *testing.T, base string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("unpacks tar.gz only")
	}
	dir := t.TempDir()
	command(t, dir, "tar", "xzf", base+".tar.gz")
	for _, name := range []string{"LICENSE", "README.md"} {
		if !bytes.Equal(read(t, filepath.Join(dir, name)), read(t, filepath.Join(repository, name))) {
			t.Errorf("the archive has another %s", name)
		}
	}
	return filepath.Join(dir, program)
}

// checkReports fails unless every report of the binary shows the version.
func checkReports(t *testing.T, binary, version string) {
	dir := t.TempDir()
	summary := filepath.Join(dir, "summary.md")
	t.Setenv("GITHUB_STEP_SUMMARY", summary)
	page := command(t, dir, binary, "run", "--operation", "phone-numbers.list", "--profile", "shape", "--format", "github")
	if !strings.Contains(page, "\nharness    "+program+" "+version+"\n") {
		t.Errorf("the summary of run does not show %s:\n%s", version, page)
	}
	// The verdict of a moment of load depends on the machine. The reports do not.
	loaded, _ := exec.Command(binary, "load", "--scenario", "list-throughput", "--operation", "phone-numbers.list", "--duration", "1s", "--rate", "20",
		"--warmup", "10ms", "--output", filepath.Join(dir, "load-results"), "--format", "github").Output()
	if !strings.Contains(string(loaded), "\nharness    "+program+" "+version+"\n") {
		t.Errorf("the summary of load does not show %s:\n%s", version, loaded)
	}
	for path, quoted := range map[string]string{
		"conformance-results/results.json": `"version": %q`,
		"conformance-results/junit.xml":    `<property name="harness" value=%q>`,
		"load-results/load.json":           `"version": %q`,
		"load-results/load-junit.xml":      `<property name="harness" value=%q>`,
		"load-results/metrics.txt":         `tool_version=%q`,
		"load-results/load.html":           program + " %s " + runtime.Version(),
	} {
		shown := strings.ReplaceAll(quoted, "%q", `"`+version+`"`)
		shown = strings.ReplaceAll(shown, "%s", version)
		if !bytes.Contains(read(t, filepath.Join(dir, path)), []byte(shown)) {
			t.Errorf("%s does not have %s", path, shown)
		}
	}
	if n := strings.Count(string(read(t, summary)), program+" "+version); n != 2 {
		t.Errorf("%d of the 2 job summaries show %s", n, version)
	}
}

// checkAction fails unless the step of action.yml that downloads a release takes these
// files.
func checkAction(t *testing.T, dist, version string) {
	var action struct {
		Runs struct {
			Steps []struct{ ID, Run string }
		}
	}
	if err := yaml.Unmarshal(read(t, filepath.Join(repository, "action.yml")), &action); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.StripPrefix("/"+version+"/", http.FileServer(http.Dir(dist))))
	defer server.Close()
	temporary := t.TempDir()
	for name, value := range map[string]string{
		"VERSION": version, "RELEASES": server.URL, "RUNNER_TEMP": temporary, "GITHUB_OUTPUT": filepath.Join(temporary, "outputs.txt"), "RESTORED": "",
		"RUNNER_OS":   map[string]string{"linux": "Linux", "darwin": "macOS"}[runtime.GOOS],
		"RUNNER_ARCH": map[string]string{"amd64": "X64", "arm64": "ARM64"}[runtime.GOARCH],
	} {
		t.Setenv(name, value)
	}
	for _, step := range action.Runs.Steps {
		if step.ID == "download" {
			command(t, temporary, "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run)
		}
	}
	if out := string(read(t, filepath.Join(temporary, "outputs.txt"))); out != "downloaded=true\n" {
		t.Errorf("the outputs of the step are %q", out)
	}
	if out := command(t, temporary, filepath.Join(temporary, program, program), "version"); !strings.HasPrefix(out, program+" "+version+" ") {
		t.Errorf("the downloaded harness prints %q", out)
	}
}

// checkImage fails unless a container of the image runs the program.
func checkImage(t *testing.T, archive, version string) {
	if runtime.GOOS != "linux" {
		t.Skip("images are for Linux")
	}
	if err := exec.Command("docker", "version").Run(); err != nil {
		if os.Getenv("OUTREACH_REQUIRE_DOCKER") != "" {
			t.Fatal("there is no Docker engine")
		}
		t.Skip("there is no Docker engine")
	}
	command(t, ".", "docker", "load", "-i", archive)
	t.Cleanup(func() { command(t, ".", "docker", "rmi", imageName(version)) })
	out := command(t, ".", "docker", "run", "--rm", "--read-only", "--network", "none", imageName(version), "version")
	if !tellsVersion(out, version) {
		t.Errorf("the container prints %q", out)
	}
	var images []struct {
		Architecture string
		Config       struct {
			User, WorkingDir string
			Entrypoint, Cmd  []string
			ExposedPorts     map[string]struct{}
			Labels           map[string]string
		}
	}
	if err := json.Unmarshal([]byte(command(t, ".", "docker", "image", "inspect", imageName(version))), &images); err != nil {
		t.Fatal(err)
	}
	got := images[0]
	_, exposed := got.Config.ExposedPorts["8025/tcp"]
	if got.Architecture != runtime.GOARCH || got.Config.User != "65532:65532" || got.Config.WorkingDir != "/work" || !exposed ||
		len(got.Config.Cmd) != 3 || got.Config.Labels["org.opencontainers.image.version"] != version {
		t.Errorf("the image is %+v", got)
	}
}

func TestArchivesAreTheSameEachTime(t *testing.T) {
	from := source{root: t.TempDir(), version: "v1.2.3", time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	for name, content := range map[string]string{"LICENSE": "licence", "README.md": "readme", "outreach-conformance": "binary", "outreach-conformance.exe": "binary"} {
		if err := os.WriteFile(filepath.Join(from.root, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range released {
		var before []byte
		for range 2 {
			base := filepath.Join(t.TempDir(), "archive")
			if err := writeArchive(from, p, filepath.Join(from.root, p.binary()), base); err != nil {
				t.Fatal(err)
			}
			entries, archive := entriesOf(t, p, base)
			want := fmt.Sprintf("%s -rwxr-xr-x binary\nLICENSE -rw-r--r-- licence\nREADME.md -rw-r--r-- readme\n", p.binary())
			if entries != want {
				t.Errorf("%s: the archive holds\n%swant\n%s", p, entries, want)
			}
			if before != nil && !bytes.Equal(before, archive) {
				t.Errorf("%s: two archives differ", p)
			}
			before = archive
			later := time.Now().Add(time.Hour)
			if err := os.Chtimes(filepath.Join(from.root, "LICENSE"), later, later); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// entriesOf returns the entries of an archive with mode and content, and its bytes.
func entriesOf(t *testing.T, p platform, base string) (string, []byte) {
	t.Helper()
	var b strings.Builder
	list := func(name string, mode fs.FileMode, content io.Reader) {
		text, err := io.ReadAll(content)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %s %s\n", name, mode, text)
	}
	if p.os == "windows" {
		archive := read(t, base+".zip")
		reader, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range reader.File {
			content, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			list(f.Name, f.Mode(), content)
		}
		return b.String(), archive
	}
	archive := read(t, base+".tar.gz")
	uncompressed, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	for reader := tar.NewReader(uncompressed); ; {
		header, err := reader.Next()
		if err == io.EOF {
			return b.String(), archive
		}
		if err != nil {
			t.Fatal(err)
		}
		list(header.Name, header.FileInfo().Mode(), reader)
	}
}

// Files of others in the directory stay. Those of an earlier release go.
func TestAnotherReleaseIsRemoved(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"outreach-conformance_v1.0.0_linux_amd64.tar.gz", checksumsFile, "notes.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := clear(dir); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != "notes.txt" {
		t.Errorf("%v is left: %v", entries, err)
	}
}

func TestPlatforms(t *testing.T) {
	all, err := parsePlatforms("all")
	if err != nil || len(all) != 6 {
		t.Errorf("all is %v: %v", all, err)
	}
	some, err := parsePlatforms("linux/arm64,windows/amd64")
	if err != nil || fmt.Sprint(some) != "[linux/arm64 windows/amd64]" {
		t.Errorf("some are %v: %v", some, err)
	}
	for _, wrong := range []string{"", "linux", "linux/386", "linux/amd64, darwin/arm64"} {
		if _, err := parsePlatforms(wrong); err == nil || !strings.Contains(err.Error(), "not released (want ") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

// modules returns the modules that the binary records, as "path@version".
func modules(t *testing.T, binary string) []string {
	t.Helper()
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, dep := range info.Deps {
		all = append(all, dep.Path+"@"+dep.Version)
	}
	return all
}

// tellsVersion reports whether the output of the command version begins with the version
// and the commit of the release.
func tellsVersion(out, version string) bool {
	rest, found := strings.CutPrefix(out, fmt.Sprintf("%s %s (%s; commit ", program, version, runtime.Version()))
	return found && regexp.MustCompile(`^[0-9a-f]{40}; `).MatchString(rest)
}

package target_test

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/harness"
	"outreach.example/conformance/refserver"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/target"
)

// needDocker skips the test, visibly, where there is no engine. With
// OUTREACH_REQUIRE_DOCKER=1 it fails instead.
func needDocker(t *testing.T) {
	t.Helper()
	err := target.Sweep(t.Context())
	switch {
	case err == nil:
	case os.Getenv("OUTREACH_REQUIRE_DOCKER") == "1":
		t.Fatal(err)
	default:
		t.Skip(err)
	}
}

// programs are the static binaries that the images hold, built once.
var programs = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "outreach-images-")
	if err != nil {
		return "", err
	}
	programsDir = dir
	for name, source := range map[string]string{"outreach-conformance": "../cmd/outreach-conformance", "proxy": "./testdata/proxy"} {
		build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(dir, "bin", name), source)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return dir, fmt.Errorf("%w\n%s", err, out)
		}
	}
	return dir, nil
})

// programsDir is where programs has put them; empty if nobody asked.
var programsDir string

// serverImage is the image of the reference server, built once.
var serverImage = sync.OnceValues(func() (string, error) {
	dir, err := programs()
	if err != nil {
		return "", err
	}
	dockerfile, err := os.ReadFile("../Dockerfile")
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "Dockerfile"), dockerfile, 0o600); err != nil {
		return "", err
	}
	tag := "outreach-conformance-test:" + uuid.NewString()
	if out, err := exec.Command("docker", "build", "-q", "-t", tag, dir).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	built = func() { _ = exec.Command("docker", "rmi", "-f", tag).Run() }
	return tag, nil
})

// built removes what was built for the tests of the package.
var built = func() {}

func TestMain(m *testing.M) {
	code := m.Run()
	built()
	if dir := programsDir; dir != "" {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// image returns the name of the reference server's image.
func image(t *testing.T) string {
	t.Helper()
	tag, err := serverImage()
	if err != nil {
		t.Fatal(err)
	}
	return tag
}

// archive is a build context in memory: the Dockerfile, and a program unless that is empty.
func archive(t *testing.T, dockerfile, program string) []byte {
	t.Helper()
	files := map[string][]byte{"Dockerfile": []byte(dockerfile)}
	if program != "" {
		dir, err := programs()
		if err != nil {
			t.Fatal(err)
		}
		if files["bin/"+program], err = os.ReadFile(filepath.Join(dir, "bin", program)); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for name, data := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(data))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// server is a container of the reference server.
func server(t *testing.T) fixtures.Container {
	t.Helper()
	return fixtures.Container{
		Image:   image(t),
		Command: []string{"serve", "--addr", "0.0.0.0:8025", "--idle-exit", "2m"},
		Wait:    fixtures.Wait{Path: "/healthz", Status: 200},
	}
}

// start brings the deployment up, and takes it down when the test ends.
func start(t *testing.T, d fixtures.Deployment, logs io.Writer) (up *target.Target, runID string, err error) {
	t.Helper()
	profile := fixtures.Embedded()
	profile.Container = &d
	runID = uuid.NewString()
	up, err = target.Container(t.Context(), profile, runID, logs)
	if err == nil {
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
			defer cancel()
			if err := up.Close(ctx); err != nil {
				t.Error(err)
			}
			nothingLeft(t, runID)
		})
	}
	return up, runID, err
}

// docker runs the docker command line, a witness apart from the code under test.
func docker(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(context.WithoutCancel(t.Context()), "docker", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("docker %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// runLabel is the label of everything that a run starts: its id and its owner.
const runLabel = "outreach.example.run"

// ofRun returns what the engine has of the run: ids of containers, networks and images.
func ofRun(t *testing.T, runID string) (containers, networks, images []string) {
	t.Helper()
	filter, label := "label="+runLabel, fmt.Sprintf("{{.ID}} {{.Label %q}}", runLabel)
	pick := func(lines string) (ids []string) {
		for line := range strings.Lines(lines) {
			if id, value, _ := strings.Cut(line, " "); strings.HasPrefix(value, runID) {
				ids = append(ids, id)
			}
		}
		return ids
	}
	for id := range strings.FieldsSeq(docker(t, "images", "-aq", "--filter", filter)) {
		// Another test may remove its image meanwhile: that is none of the run.
		value, _ := exec.CommandContext(context.WithoutCancel(t.Context()), "docker", "image", "inspect", "-f", fmt.Sprintf("{{index .Config.Labels %q}}", runLabel), id).Output()
		images = append(images, pick(id+" "+string(value))...)
	}
	return pick(docker(t, "ps", "-a", "--filter", filter, "--format", label)),
		pick(docker(t, "network", "ls", "--filter", filter, "--format", label)), images
}

func nothingLeft(t *testing.T, runID string) {
	t.Helper()
	containers, networks, images := ofRun(t, runID)
	if left := slices.Concat(containers, networks, images); len(left) > 0 {
		t.Errorf("containers %v, networks %v and images %v are left of the run", containers, networks, images)
	}
}

func TestContainerGetsTheSameVerdictAsEmbedded(t *testing.T) {
	needDocker(t)
	g := NewWithT(t)
	dockerfile, err := os.ReadFile("../Dockerfile")
	g.Expect(err).NotTo(HaveOccurred())
	contained, _, err := start(t, fixtures.Deployment{Container: fixtures.Container{Archive: archive(t, string(dockerfile), "outreach-conformance")}}, nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(contained.Kind).To(Equal(target.KindDockerfile))
	g.Expect(contained.BaseURL).To(HavePrefix("http://127.0.0.1:"), "its port is for this machine alone")
	embedded, err := target.Embedded(t.Context(), dataset.DefaultOptions(), refserver.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = embedded.Close(context.WithoutCancel(t.Context())) }()

	outcomes := func(on *target.Target) map[string]reports.Outcome {
		results, err := harness.Run(t.Context(), harness.Config{Target: on, Seed: 1,
			Selection: harness.Selection{Operations: []string{"subsequences.*", "inbox-placement-tests.create"}}})
		g.Expect(err).NotTo(HaveOccurred())
		all := map[string]reports.Outcome{}
		for _, c := range results.Checks {
			all[c.Requirement+" "+c.Operation] = c.Outcome
		}
		g.Expect(results.Verdict).To(Equal(reports.Conforms), "%v", results.Reasons)
		return all
	}
	g.Expect(outcomes(contained)).To(Equal(outcomes(embedded)))
}

func TestContainerOfAnImage(t *testing.T) {
	needDocker(t)
	g := NewWithT(t)
	tag := image(t)
	t.Run("up and down", func(t *testing.T) {
		up, runID, err := start(t, fixtures.Deployment{Container: fixtures.Container{Image: tag}}, nil)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(up.Kind).To(Equal(target.KindImage))
		g.Expect(up.Reachable(t.Context())).To(Succeed())
		containers, _, _ := ofRun(t, runID)
		g.Expect(containers).To(HaveLen(1))
		id := containers[0]
		g.Expect(docker(t, "inspect", "-f", "{{.Config.User}}", id)).To(Equal("65532:65532"), "it is not root")
		g.Expect(docker(t, "port", id)).To(And(ContainSubstring("8025/tcp"), Not(ContainSubstring("0.0.0.0"))))
	})
	g.Expect(docker(t, "images", "-q", tag)).NotTo(BeEmpty(), "an image that the run did not build stays")
}

func TestContainerOfADockerfile(t *testing.T) {
	needDocker(t)
	g := NewWithT(t)
	folder := filepath.Join(t.TempDir(), "context")
	g.Expect(os.MkdirAll(filepath.Join(folder, "build"), 0o700)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(folder, "build", "Dockerfile"), []byte("FROM "+image(t)+"\n"), 0o600)).To(Succeed())
	config := filepath.Join(t.TempDir(), "greeting")
	g.Expect(os.WriteFile(config, []byte("hello"), 0o600)).To(Succeed())
	up, _, err := start(t, fixtures.Deployment{Container: fixtures.Container{
		Dockerfile: filepath.Join(folder, "build", "Dockerfile"),
		Context:    folder,
		Files:      map[string]string{config: "/etc/greeting"},
	}}, nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(up.Kind).To(Equal(target.KindDockerfile))
	g.Expect(up.Reachable(t.Context())).To(Succeed())
}

func TestTwoContainersOnANetwork(t *testing.T) {
	needDocker(t)
	g := NewWithT(t)
	var logs bytes.Buffer
	service := with(server(t), func(c *fixtures.Container) { c.Port, c.Aliases = 8025, []string{"api.backend"} })
	up, _, err := start(t, fixtures.Deployment{
		Container: fixtures.Container{
			Archive:     archive(t, "FROM scratch\nCOPY bin/proxy /proxy\nENTRYPOINT [\"/proxy\"]\n", "proxy"),
			Port:        9000,
			Command:     []string{"9000", "http://api.backend:8025"},
			Environment: map[string]string{"DATABASE_PASSWORD": "correct horse"},
			Aliases:     []string{"front"},
		},
		Services: []fixtures.Service{{Name: "api", Container: service}},
	}, &logs)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(up.Reachable(t.Context())).To(Succeed())
	results, err := harness.Run(t.Context(), harness.Config{Target: up, Seed: 1, Selection: harness.Selection{Operations: []string{"lead-lists.list"}}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(results.Verdict).To(Equal(reports.Conforms), "%v", results.Reasons)

	g.Expect(up.Close(t.Context())).To(Succeed()) // after which nothing more is written
	g.Expect(logs.String()).To(And(
		ContainSubstring("target | forwarding to http://api.backend:8025 with the password [redacted]"),
		ContainSubstring("api | API"),
		Not(ContainSubstring("correct horse"))))
}

func with(c fixtures.Container, change func(*fixtures.Container)) fixtures.Container {
	change(&c)
	return c
}

func TestContainersThatAreOfNoUse(t *testing.T) {
	needDocker(t)
	for _, tc := range []struct {
		name   string
		change func(*fixtures.Container)
		want   []string
	}{
		{"exits early", func(c *fixtures.Container) { c.Command = []string{"serve", "--no-such-flag"} },
			[]string{"the container target exited with code 2 before it was ready", "unknown flag: --no-such-flag"}},
		{"is never ready", func(c *fixtures.Container) {
			c.Wait = fixtures.Wait{Path: "/never", Status: 200, Timeout: 500 * time.Millisecond}
		},
			[]string{"the container target was not ready within 500ms", "404 from GET /never on port 8025", "API    http://"}},
		{"serves on another port", func(c *fixtures.Container) { c.Port, c.Wait.Timeout = 9999, 500*time.Millisecond },
			[]string{"was not ready within", "none from GET /healthz on port 9999", "check port and wait"}},
		{"has no program", func(c *fixtures.Container) {
			c.Image, c.Archive = "", archive(t, "FROM scratch\nCOPY Dockerfile /\nEXPOSE 1\n", "")
		},
			[]string{"the container target did not start", "executable file not found"}},
		{"cannot be built", func(c *fixtures.Container) {
			c.Image, c.Archive = "", archive(t, "FROM scratch\nCOPY nothing /\n", "")
		},
			[]string{"the container target: its image cannot be built"}},
		{"exposes no port", func(c *fixtures.Container) {
			c.Image, c.Archive = "", archive(t, "FROM scratch\nCOPY Dockerfile /\n", "")
		},
			[]string{"exposes 0 TCP ports", "container.port"}},
		{"has two origins", func(c *fixtures.Container) { c.Archive = archive(t, "FROM scratch\n", "") },
			[]string{"want one of an image, a dockerfile and an archive"}},
		{"is of no image", func(c *fixtures.Container) { c.Image = "127.0.0.1:1/nobody/nothing:none" },
			[]string{"127.0.0.1:1/nobody/nothing:none is not on the engine and cannot be pulled"}},
		{"lacks a file", func(c *fixtures.Container) { c.Files = map[string]string{"/no/such/file": "/etc/file"} },
			[]string{"files: stat /no/such/file"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, runID, err := start(t, fixtures.Deployment{Container: with(server(t), tc.change)}, nil)
			for _, want := range tc.want {
				NewWithT(t).Expect(err).To(MatchError(ContainSubstring(want)))
			}
			nothingLeft(t, runID)
		})
	}
}

func TestInterruptedStartLeavesNothing(t *testing.T) {
	needDocker(t)
	ctx, cancel := context.WithCancel(t.Context())
	profile := fixtures.Embedded()
	never := with(server(t), func(c *fixtures.Container) { c.Wait.Path = "/never" })
	profile.Container = &fixtures.Deployment{Container: never, Services: []fixtures.Service{{Name: "api", Container: never}}}
	runID := uuid.NewString()
	_, err := target.Container(ctx, profile, runID, writerFunc(func(line []byte) {
		if bytes.Contains(line, []byte("API ")) { // it runs, and is waited for
			cancel()
		}
	}))
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("context canceled")))
	nothingLeft(t, runID)
}

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }

// A run that was killed leaves its labels behind; the process that they name is gone.
func TestSweepRemovesWhatADeadRunLeft(t *testing.T) {
	needDocker(t)
	g := NewWithT(t)
	host, err := os.Hostname()
	g.Expect(err).NotTo(HaveOccurred())
	gone := exec.Command("go", "version")
	g.Expect(gone.Run()).To(Succeed())
	labels := func(run string, pid int) []string {
		return []string{"--label", fmt.Sprintf("%s=%s %d@%s %s", runLabel, run, pid, host, time.Now().UTC().Format(time.RFC3339))}
	}
	folder := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(folder, "Dockerfile"), []byte("FROM "+image(t)+"\n"), 0o600)).To(Succeed())
	dead, living := uuid.NewString(), uuid.NewString()
	for run, pid := range map[string]int{dead: gone.Process.Pid, living: os.Getpid()} {
		docker(t, append(append([]string{"build", "-q", "-t", "outreach-sweep-test:" + run}, labels(run, pid)...), folder)...)
		docker(t, append(append([]string{"network", "create"}, labels(run, pid)...), "outreach-sweep-"+run)...)
		docker(t, append(append([]string{"run", "-d", "--network", "outreach-sweep-" + run}, labels(run, pid)...), "outreach-sweep-test:"+run)...)
	}
	g.Expect(target.Sweep(t.Context())).To(Succeed())
	nothingLeft(t, dead)
	containers, _, _ := ofRun(t, living)
	g.Expect(containers).To(HaveLen(1), "a run that goes on keeps its containers")
	docker(t, "rm", "-f", containers[0])
	docker(t, "network", "rm", "outreach-sweep-"+living)
	docker(t, "rmi", "-f", "outreach-sweep-test:"+living)
	nothingLeft(t, living)
}

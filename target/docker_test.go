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
	"testing"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/harness"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/refserver"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/target"
)

// archive is a build context in memory: the Dockerfile, and a program unless that is empty.
func archive(t *testing.T, dockerfile, program string) []byte {
	t.Helper()
	files := map[string][]byte{"Dockerfile": []byte(dockerfile)}
	if program != "" {
		var err error
		if files["bin/"+program], err = os.ReadFile(filepath.Join(testbed.Built(t), "bin", program)); err != nil {
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
		Image:   testbed.Image(t),
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

func TestMain(m *testing.M) { os.Exit(testbed.Tidying{Tests: m}.Run()) }

// ofRun returns what the engine has of the run.
func ofRun(t *testing.T, runID string) []testbed.Labelled {
	t.Helper()
	return slices.DeleteFunc(testbed.AllLabelled(t), func(l testbed.Labelled) bool { return !strings.HasPrefix(l.Label, runID) })
}

func nothingLeft(t *testing.T, runID string) {
	t.Helper()
	if left := ofRun(t, runID); len(left) > 0 {
		t.Errorf("left of the run: %+v", left)
	}
}

func TestContainerGetsTheSameVerdictAsEmbedded(t *testing.T) {
	testbed.NeedDocker(t, target.Sweep)
	g := NewWithT(t)
	dockerfile, err := os.ReadFile("../Dockerfile")
	g.Expect(err).NotTo(HaveOccurred())
	contained, _, err := start(t, fixtures.Deployment{Container: fixtures.Container{Archive: archive(t, string(dockerfile), testbed.Program)}}, nil)
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
	testbed.NeedDocker(t, target.Sweep)
	g := NewWithT(t)
	tag := testbed.Image(t)
	t.Run("up and down", func(t *testing.T) {
		up, runID, err := start(t, fixtures.Deployment{Container: fixtures.Container{Image: tag}}, nil)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(up.Kind).To(Equal(target.KindImage))
		g.Expect(up.Reachable(t.Context())).To(Succeed())
		started := ofRun(t, runID)
		g.Expect(started).To(HaveLen(1))
		id := started[0].ID
		g.Expect(testbed.Docker(t, "inspect", "-f", "{{.Config.User}}", id)).To(Equal("65532:65532"), "it is not root")
		g.Expect(testbed.Docker(t, "port", id)).To(And(ContainSubstring("8025/tcp"), Not(ContainSubstring("0.0.0.0"))))
	})
	g.Expect(testbed.Docker(t, "images", "-q", tag)).NotTo(BeEmpty(), "an image that the run did not build stays")
}

func TestContainerOfADockerfile(t *testing.T) {
	testbed.NeedDocker(t, target.Sweep)
	g := NewWithT(t)
	folder := filepath.Join(t.TempDir(), "context")
	g.Expect(os.MkdirAll(filepath.Join(folder, "build"), 0o700)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(folder, "build", "Dockerfile"), []byte("FROM "+testbed.Image(t)+"\n"), 0o600)).To(Succeed())
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
	testbed.NeedDocker(t, target.Sweep)
	g := NewWithT(t)
	var logs bytes.Buffer
	service := with(server(t), func(c *fixtures.Container) { c.Port, c.Aliases = 8025, []string{"api.backend"} })
	up, _, err := start(t, fixtures.Deployment{
		Container: fixtures.Container{
			Archive:     archive(t, "FROM scratch\nCOPY bin/proxy /proxy\nENTRYPOINT [\"/proxy\"]\n", testbed.Proxy),
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
	testbed.NeedDocker(t, target.Sweep)
	for _, tc := range []struct {
		name   string
		change func(*fixtures.Container)
		want   []string
	}{
		{"exits early", func(c *fixtures.Container) { c.Command = []string{"serve", "--no-such-flag"} },
			[]string{"the container target exited with code 2 before it was ready", "unknown flag: --no-such-flag"}},
		{"is never ready", func(c *fixtures.Container) {
			c.Wait = fixtures.Wait{Path: "/never", Status: 200, Timeout: 3 * time.Second}
		},
			[]string{"the container target was not ready within 3s", "404 from GET /never on port 8025", "API    http://"}},
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
	testbed.NeedDocker(t, target.Sweep)
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
	testbed.NeedDocker(t, target.Sweep)
	g := NewWithT(t)
	host, err := os.Hostname()
	g.Expect(err).NotTo(HaveOccurred())
	// Whoever else sweeps this engine leaves it alone until all is there.
	killed := exec.Command("cat")
	lives, err := killed.StdinPipe()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(killed.Start()).To(Succeed())
	started := time.Now().UTC().Format(time.RFC3339) // all that a run starts bears one label
	labels := func(run string, pid int) []string {
		return []string{"--label", fmt.Sprintf("%s=%s %d@%s %s", testbed.RunLabel, run, pid, host, started)}
	}
	folder := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(folder, "Dockerfile"), []byte("FROM "+testbed.Image(t)+"\n"), 0o600)).To(Succeed())
	dead, living := uuid.NewString(), uuid.NewString()
	for run, pid := range map[string]int{dead: killed.Process.Pid, living: os.Getpid()} {
		testbed.Docker(t, append(append([]string{"build", "-q", "-t", "outreach-sweep-test:" + run}, labels(run, pid)...), folder)...)
		testbed.Docker(t, append(append([]string{"network", "create"}, labels(run, pid)...), "outreach-sweep-"+run)...)
		testbed.Docker(t, append(append([]string{"run", "-d", "--network", "outreach-sweep-" + run}, labels(run, pid)...), "outreach-sweep-test:"+run)...)
	}
	g.Expect(lives.Close()).To(Succeed())
	g.Expect(killed.Wait()).To(Succeed())
	g.Expect(target.Sweep(t.Context())).To(Succeed())
	nothingLeft(t, dead)
	kept := ofRun(t, living)
	g.Expect(kept).To(HaveLen(3), "a run that goes on keeps its container, its network and its image")
	for _, l := range kept {
		if l.Kind == "container" {
			testbed.Docker(t, "rm", "-f", l.ID)
		}
	}
	testbed.Docker(t, "network", "rm", "outreach-sweep-"+living)
	testbed.Docker(t, "rmi", "-f", "outreach-sweep-test:"+living)
	nothingLeft(t, living)
}

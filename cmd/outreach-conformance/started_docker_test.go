package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/fixtures/target/container"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// startedBy returns the containers, networks and images of the process in the engine.
func startedBy(t *testing.T, p *process) (all []testbed.Labelled) {
	t.Helper()
	for _, l := range testbed.AllLabelled(t) {
		if strings.Contains(l.Label, fmt.Sprintf(" %d@", p.command.Process.Pid)) {
			all = append(all, l)
		}
	}
	return all
}

// untilLogged waits until the log of the run's containers has the text.
func untilLogged(t *testing.T, p *process, text string) {
	t.Helper()
	log := filepath.Join(p.command.Dir, defaultOutput, containerLog)
	patient, end := context.WithTimeout(t.Context(), patience)
	defer end()
	for {
		if said, err := os.ReadFile(log); err == nil && strings.Contains(string(said), text) {
			return
		}
		select {
		case <-p.done:
			t.Fatalf("it ended before %s had %q:\n%s", containerLog, text, p.output.bytes())
		case <-patient.Done():
			t.Fatalf("%s does not get %q:\n%s", containerLog, text, p.output.bytes())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// contained writes a profile that starts the reference server in a container, from an
// image by default, and returns the file's name.
func contained(t *testing.T, changes ...func(*testing.T, *profile.Profile)) string {
	t.Helper()
	p := profile.Embedded()
	p.Container = &profile.Deployment{Container: profile.Container{
		Image:   testbed.Image(t),
		Command: []string{"serve", "--addr", "0.0.0.0:8025", "--idle-exit", "30m"},
		Wait:    profile.Wait{Path: "/healthz", Status: 200, Timeout: 10 * time.Minute},
	}}
	for _, change := range changes {
		change(t, p)
	}
	text, err := p.YAML("")
	if err != nil {
		t.Fatal(err)
	}
	return written(t, "server.yaml", string(text))
}

func fromDockerfile(t *testing.T, p *profile.Profile) {
	p.Container.Image, p.Container.Dockerfile = "", filepath.Join(testbed.Built(t), "Dockerfile")
}

func neverReady(_ *testing.T, p *profile.Profile) { p.Container.Wait.Path = "/never" }

// slowly judges for hours: however slow the machine, something interrupts it.
func slowly(_ *testing.T, p *profile.Profile) { p.Pace.RequestsPerSecond = 1 }

func withDatabase(_ *testing.T, p *profile.Profile) {
	beside := profile.Service{Name: "database", Container: p.Container.Container}
	beside.Port = 8025
	p.Container.Services = []profile.Service{beside}
}

// judges is what a run prints when its target is up and it begins to judge.
const judges = `^[0-9,]+ specs, about `

// An interrupted run removes what it started: during the build, the start and the run.
func TestInterruptedRunTakesTheContainerDown_long(t *testing.T) {
	t.Parallel()
	testbed.NeedDocker(t, container.Sweep)
	for _, tc := range []struct {
		name     string
		signal   syscall.Signal
		changes  []func(*testing.T, *profile.Profile)
		logged   string
		building bool
	}{
		{"SIGINT while its image is built", syscall.SIGINT, []func(*testing.T, *profile.Profile){fromDockerfile}, "target (build) | Step 2", true},
		{"SIGINT while it starts", syscall.SIGINT, []func(*testing.T, *profile.Profile){withDatabase, neverReady}, "target | API ", false},
		{"SIGTERM while it starts", syscall.SIGTERM, []func(*testing.T, *profile.Profile){neverReady}, "starting target", false},
		{"SIGINT while it is judged", syscall.SIGINT, []func(*testing.T, *profile.Profile){slowly}, "", false},
		{"SIGTERM while it is judged", syscall.SIGTERM, []func(*testing.T, *profile.Profile){slowly}, "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			c := command(t, nil, runCommand, "--target-profile", contained(t, tc.changes...))
			var p *process
			if tc.logged != "" {
				p = begunWithout(t, c)
				untilLogged(t, p, tc.logged)
			} else {
				p, _ = begun(t, c, judges)
				g.Expect(startedBy(t, p)).To(ContainElement(HaveField("Kind", "container")))
			}
			g.Expect(p.end(t, tc.signal)).To(Equal(exitInterrupted), "%s", p.output.bytes())
			if tc.building {
				// The engine finishes a step of the build, which may take it longer than the run waits.
				// The next command removes what comes late.
				g.Eventually(func() []testbed.Labelled {
					exitsWith(t, 0, nil, "cleanup", "--target-profile", contained(t))
					return startedBy(t, p)
				}, patience, time.Second).Should(BeEmpty())
			}
			g.Expect(startedBy(t, p)).To(BeEmpty())
			if tc.logged == "" {
				g.Expect(ended{dir: c.Dir}.results(t).Verdict).To(Equal(reports.Inconclusive))
				g.Expect(contents(t, filepath.Join(c.Dir, defaultOutput, containerLog))).To(ContainSubstring("target | API "))
			}
		})
	}
}

// A container that does not become ready is removed, and the error has its last output.
func TestContainerThatIsNeverReady_long(t *testing.T) {
	t.Parallel()
	testbed.NeedDocker(t, container.Sweep)
	g := NewWithT(t)
	p := begunWithout(t, command(t, nil, runCommand, "--target-profile", contained(t, func(_ *testing.T, p *profile.Profile) {
		p.Container.Wait = profile.Wait{Path: "/never", Status: 200, Timeout: 15 * time.Second}
	})))
	<-p.done
	g.Expect(p.command.ProcessState.ExitCode()).To(Equal(exitCannotTell))
	g.Expect(string(p.output.bytes())).To(And(ContainSubstring("not ready within 15s; last response: 404 from GET /never"), ContainSubstring("API    http://")))
	g.Expect(startedBy(t, p)).To(BeEmpty())
}

// The next run and cleanup remove what killed runs left in Docker.
func TestWhatAKilledRunLeftInDockerIsSwept_long(t *testing.T) {
	testbed.NeedDocker(t, container.Sweep)
	for name, args := range map[string][]string{
		"the next run": {runCommand, "--requirement", "STATUS-200", "--operation", spec.ListLeadLists},
		"cleanup":      {"cleanup"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			starting := begunWithout(t, command(t, nil, runCommand, "--target-profile", contained(t, withDatabase, neverReady)))
			judging, _ := begun(t, command(t, nil, runCommand, "--target-profile", contained(t, fromDockerfile, slowly)), judges)
			untilLogged(t, starting, "target | API ")
			g.Expect(startedBy(t, starting)).To(HaveLen(3), "two containers and a network")
			g.Expect(startedBy(t, judging)).To(HaveLen(2), "a container and an image")
			starting.end(t, syscall.SIGKILL)
			judging.end(t, syscall.SIGKILL)
			exitsWith(t, 0, nil, append(args, "--target-profile", contained(t))...)
			g.Expect(startedBy(t, starting)).To(BeEmpty())
			g.Expect(startedBy(t, judging)).To(BeEmpty())
		})
	}
}

// The image also contains the harness, which writes its files into the mounted
// directory.
func TestImageOfTheHarness_long(t *testing.T) {
	t.Parallel()
	testbed.NeedDocker(t, container.Sweep)
	dir := t.TempDir()
	testbed.Docker(t, "run", "--rm", "--user", fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid()), "-v", dir+":/work", testbed.Image(t),
		runCommand, "--profile", string(spec.ProfileShape))
	NewWithT(t).Expect(ended{dir: dir}.results(t).Verdict).To(Equal(reports.Passed))
}

// Without Docker the error names the place at once. Tests of fixtures/target cover a
// listener that never answers.
func TestWithoutDocker_long(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"unix:///no/such/docker.sock", "tcp://127.0.0.1:1", "tcp://192.0.2.1:2375"} {
		for _, args := range [][]string{{"--target", "image:server"}, {"--target", target.DockerfilePrefix + "Dockerfile"}} {
			e := exitsWith(t, exitUsage, []string{"DOCKER_HOST=" + host}, append([]string{runCommand}, args...)...)
			g := NewWithT(t)
			g.Expect(e.stderr).To(And(ContainSubstring("no Docker engine: tried "+host), ContainSubstring("unset DOCKER_HOST")))
			g.Expect(e.stdout).To(MatchRegexp(`\n\? INCONCLUSIVE  exit 2 · .*\n$`))
		}
	}
}

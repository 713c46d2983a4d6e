package main

import (
	"path/filepath"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/fixtures/target/container"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/reports"
)

// A target in a container is loaded like any other, and taken down afterwards.
func TestLoadOfAContainer_long(t *testing.T) {
	t.Parallel()
	testbed.NeedDocker(t, container.Sweep)
	for _, tc := range []struct{ name, from string }{
		{"image", target.ImagePrefix + testbed.Image(t)},
		{"dockerfile", target.DockerfilePrefix + filepath.Join(testbed.Built(t), "Dockerfile")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			p := begunWithout(t, command(t, nil, loadCommand, "--target", tc.from, "--target-profile", contained(t),
				"--scenario-file", written(t, "quick.yaml", quick), "--lag-limit", "1h"))
			<-p.done
			g.Expect(p.command.ProcessState.ExitCode()).To(BeZero(), "%s", p.output.bytes())
			g.Expect(startedBy(t, p)).To(BeEmpty())
			r := loadResults(t, p.command.Dir)
			g.Expect(r.Verdict).To(Equal(reports.Passed))
			g.Expect(r.Target.Kind).To(Equal(tc.name))
			g.Expect(r.Scenarios[0].Phases[0].Sent).To(BeEquivalentTo(400))
		})
	}
}

// A load run that is interrupted takes its container down.
func TestInterruptedLoadTakesTheContainerDown_long(t *testing.T) {
	t.Parallel()
	testbed.NeedDocker(t, container.Sweep)
	g := NewWithT(t)
	p, _ := begun(t, command(t, nil, loadCommand, "--target-profile", contained(t), "--scenario-file", written(t, "quick.yaml", quick),
		"--lag-limit", "1h", "--page-size", "1", "--page-size", "10", "--duration", "20s", "--warmup", "100ms"), `^(\[1/1\] quick) warm-up `)
	g.Expect(startedBy(t, p)).To(ContainElement(HaveField("Kind", "container")))
	g.Expect(p.end(t, syscall.SIGTERM)).To(Equal(exitInterrupted), "%s", p.output.bytes())
	g.Expect(startedBy(t, p)).To(BeEmpty())
	g.Expect(loadResults(t, p.command.Dir).Run.Interrupted).To(BeTrue())
}

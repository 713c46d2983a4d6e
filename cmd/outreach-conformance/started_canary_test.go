package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target/container"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/spec"
)

// talkative selects an operation of each kind. A hostile server repeats the key in their
// responses. More operations would prove no more.
var talkative = []string{"--operation", strings.Join([]string{spec.MoveLead, spec.CreatePlacementTest, spec.GetPlacementTest,
	spec.DeletePlacementTest, spec.ListLeadLabels, spec.ListWebhookEvents, spec.MoveAccounts}, ",")}

// No command prints or writes a key, even if the server repeats it in responses.
func TestNoArtifactHoldsAKey_long(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	base, _ := servingBuilt(t)
	hostile := echoing(t, base)
	dir := t.TempDir()
	shown := map[string]string{}
	in := func(code int, env []string, args ...string) {
		c := command(t, env, args...)
		c.Dir = dir
		e := toTheEnd(t, c)
		g.Expect(e.code).To(Equal(code), "%v: %s", args, e)
		shown["the output of "+strings.Join(args[:2], " ")] += e.stdout
		shown["the errors of "+strings.Join(args[:2], " ")] += e.stderr
	}
	known := profile.Embedded()
	known.VisibleWithin = 200 * time.Millisecond // the server shows each change at once
	at := []string{"--target", hostile, "--target-profile", written(t, "known.yaml", string(must[[]byte](t)(known.YAML(""))))}
	in(1, nil, append(append([]string{runCommand, "--verbose", "--write-expected", "known.yaml", "--format", "console" + everyFile}, at...), talkative...)...)
	in(1, nil, append(append([]string{runCommand, "--baseline", "conformance-results/results.json", "--output", "again"}, at...), talkative...)...)
	comparing := command(t, nil, "report", "diff", "conformance-results", "again", "--verbose", "--format", "console,json=d/d.json,html=d/d.html,markdown=d/d.md,github=d/d.txt")
	comparing.Dir = dir
	shown["report diff"] = toTheEnd(t, comparing).String() // its result does not matter here
	in(1, nil, "report", "merge", "conformance-results", "again", "--output", "joined")
	checking := command(t, nil, append([]string{"target", "check", "--verbose"}, at...)...)
	checking.Dir = dir
	shown["target check"] = toTheEnd(t, checking).String() // its result depends on which responses the server spoils
	key, _ := profile.Embedded().FullKey(dataset.Main)
	in(0, []string{"OUTREACH_KEY_MAIN=" + key.Token}, "target", "init", "--target", hostile)

	// A run that is killed leaves its journal.
	front := newGate(t, hostile)
	front.arm(stop{nth: 20, reaches: true})
	c := command(t, nil, append([]string{runCommand, "--target", front.URL, "--output", "killed"}, talkative...)...)
	c.Dir = dir
	killed(t, front, begunWithout(t, c))
	journals, err := filepath.Glob(filepath.Join(dir, "killed", "journal-*.jsonl"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(journals).To(HaveLen(1))
	shown["the killed run's journal"] = contents(t, journals[0])
	cleaning := command(t, nil, "cleanup", "--target", front.URL, "--output", "killed")
	cleaning.Dir = dir
	e := toTheEnd(t, cleaning) // its result does not matter here
	shown["cleanup"] = e.String()

	files := filesBelow(t, dir)
	for _, name := range []string{"conformance-results/results.json", "conformance-results/junit.xml", "conformance-results/report.html", "f/s.sarif", "f/g.json", "d/d.html", "again/difference.json", "joined/results.json", "known.yaml", "target.yaml"} {
		g.Expect(files).To(HaveKey(name))
	}
	g.Expect(files["conformance-results/results.json"]).To(ContainSubstring("[redacted]"), "the server spoke of keys")
	for name, text := range files {
		shown[name] = text
	}
	testbed.HoldsNoKey(t, profile.Embedded().Keys, shown)
}

// Keys that a container writes stay out of the log. The server under test is a proxy of
// another container.
func TestContainerLogHoldsNoKey_long(t *testing.T) {
	t.Parallel()
	testbed.NeedDocker(t, container.Sweep)
	testbed.KeepNames(t)
	g := NewWithT(t)
	buildContext := t.TempDir()
	g.Expect(os.Mkdir(filepath.Join(buildContext, "bin"), 0o700)).To(Succeed())
	program, err := os.ReadFile(filepath.Join(testbed.Built(t), "bin", testbed.Proxy))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.WriteFile(filepath.Join(buildContext, "bin", "proxy"), program, 0o700)).To(Succeed()) //nolint:gosec // it is a program
	g.Expect(os.WriteFile(filepath.Join(buildContext, "Dockerfile"), []byte("FROM scratch\nCOPY bin/proxy /proxy\nENTRYPOINT [\"/proxy\"]\n"), 0o600)).To(Succeed())
	file := contained(t, withDatabase, func(_ *testing.T, p *profile.Profile) {
		p.Container.Container = profile.Container{
			Dockerfile: filepath.Join(buildContext, "Dockerfile"), Port: 9000,
			Command:     []string{"9000", "http://database:8025"},
			Environment: map[string]string{"ECHO_KEY": "1", "DATABASE_PASSWORD": "correct horse"},
		}
	})
	c := command(t, nil, append([]string{runCommand, "--verbose", "--target-profile", file}, talkative...)...)
	e := toTheEnd(t, c)
	g.Expect(e.code).To(Equal(1), "%s", e)
	shown := filesBelow(t, c.Dir)
	log := shown["conformance-results/container.log"]
	g.Expect(strings.Count(log, "target | was asked with ")).To(BeNumerically(">", 20))
	g.Expect(log).To(And(ContainSubstring("[redacted]"), ContainSubstring("database | API"), Not(ContainSubstring("correct horse"))))
	shown["output"] = e.String()
	testbed.HoldsNoKey(t, profile.Embedded().Keys, shown)
}

// echoing starts a proxy that repeats keys, and returns its address.
func echoing(t *testing.T, base string) string {
	t.Helper()
	port := freePort(t)
	c := exec.CommandContext(t.Context(), filepath.Join(testbed.Built(t), "bin", testbed.Proxy), port, base)
	c.Env = append(os.Environ(), "ECHO_KEY=1")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	address := "127.0.0.1:" + port
	NewWithT(t).Eventually(func() bool { return listens(address) }, patience, 10*time.Millisecond).Should(BeTrue())
	return "http://" + address
}

// filesBelow returns the contents of all files below the directory.
func filesBelow(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files[path] = contents(t, filepath.Join(dir, path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

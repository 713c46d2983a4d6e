package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"outreach.example/conformance/loadtest/schedule"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/loadtest"
	"outreach.example/conformance/loadtest/inspect"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/reports/load"
)

// soakProgram is a soak of 8 hours without the waiting: a short soak of a real target,
// then 8 hours of samples, then the report of them. Its last line is how many bytes of
// objects it held at most, and how many bytes were resident at most, beside the program's
// file.
const soakProgram = "soak-of-8-hours"

// Bounds of a soak of any length, in bytes. What it holds depends on the soak alone. What
// is resident also depends on the machine: Go collects garbage less often when other
// programs keep the cores busy, and the system maps more or less of the program's file. So
// only a run with -slow, on a quiet machine, checks that.
const (
	mostSoakHeld   = 20 << 20
	mostSoakMemory = 64_000_000
)

func TestMemoryOfASoak_long(t *testing.T) {
	if peakOf(os.Getpid()) == 0 {
		t.Skip("needs /proc")
	}
	rates := []string{"100"}
	if testbed.Slow() {
		rates = append(rates, "2500")
	}
	for _, rate := range rates {
		t.Run(rate, func(t *testing.T) {
			g := NewWithT(t)
			base, _ := servingBuilt(t)
			c := command(t, nil)
			c.Path, c.Args = must[string](t)(os.Executable()), []string{soakProgram, rate, base, c.Dir}
			output, err := c.CombinedOutput()
			g.Expect(err).NotTo(HaveOccurred(), "%s", output)
			lines := strings.Split(strings.TrimSpace(string(output)), "\n")
			var held, resident int
			_, err = fmt.Sscan(lines[len(lines)-1], &held, &resident)
			g.Expect(err).NotTo(HaveOccurred(), "%s", output)
			t.Logf("held %d KiB, resident %d MiB beside the program's file, %d KiB of results, %d KiB of histograms", held>>10, resident>>20,
				sizeOf(filepath.Join(c.Dir, loadFile))>>10, sizeOf(filepath.Join(c.Dir, hdrFile))>>10)
			g.Expect(held).To(And(BeNumerically(">", 0), BeNumerically("<=", mostSoakHeld)))
			if testbed.Slow() {
				program := filePagesOfASoak(t, base, rate)
				t.Logf("with %d MiB of the program's file", program>>20)
				g.Expect(program).To(BeNumerically(">", 0))
				g.Expect(resident + program).To(BeNumerically("<=", mostSoakMemory))
			}

			r, err := load.Read(filepath.Join(c.Dir, loadFile))
			g.Expect(err).NotTo(HaveOccurred())
			phase := r.Scenarios[0].Phases[0]
			g.Expect(phase.Seconds).To(Equal((8 * time.Hour).Seconds()))
			g.Expect(strconv.Itoa(int(phase.Sent) / int(phase.Seconds))).To(Equal(rate))
		})
	}
}

// filePagesOfASoak returns how many bytes of its file the built program has resident while
// it soaks.
func filePagesOfASoak(t *testing.T, base, rate string) int {
	t.Helper()
	p, _ := begun(t, command(t, nil, loadCommand, "--target", base, "--scenario", "soak", "--rate", rate, "--duration", "5s"), `soak warm-up`)
	pages := filePagesOf(p.command.Process.Pid)
	<-p.done
	return pages
}

// soakOf8Hours is the main function of soakProgram.
func soakOf8Hours() {
	rate, base, dir := os.Args[1], os.Args[2], os.Args[3]
	calibrate = calibrations[""] // the real one sends as much as the machine can
	args := []string{loadCommand, "--target", base, "--scenario", "soak", "--rate", rate, "--duration", "2s", "--output", dir}
	if code := execute(args, io.Discard, os.Stderr); code == exitUsage {
		os.Exit(code)
	}
	var most held
	if err := reportSoak(rate, base, dir, most.look); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(most.bytes, peakOf(os.Getpid())-filePagesOf(os.Getpid()))
}

// held is how many bytes of objects were live at most, where it looked.
type held struct{ bytes uint64 }

// look collects garbage and reads what is left. The program allocates nothing meanwhile, so
// it depends on no other program.
func (h *held) look() {
	runtime.GC()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	h.bytes = max(h.bytes, live[0].Value.Uint64())
}

var filePages = regexp.MustCompile(`(?m)^RssFile:\s+([0-9]+) kB$`)

// filePagesOf returns how many bytes of files a process has mapped and resident.
func filePagesOf(pid int) int {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	found := filePages.FindSubmatch(status)
	if found == nil {
		return 0
	}
	kilobytes, _ := strconv.Atoi(string(found[1]))
	return kilobytes << 10
}

// reportSoak writes the report of 8 hours at a rate. It calls look after each step.
func reportSoak(rate, base, dir string, look func()) error {
	chosen, err := scenario.Select(scenario.Builtin(), []string{"soak"})
	if err != nil {
		return err
	}
	s := &chosen[0]
	if s.Rate, err = strconv.ParseFloat(rate, 64); err != nil {
		return err
	}
	s.Duration = 8 * time.Hour
	draft := verdict.NewDraft(*s, verdict.Terms{})
	recorder := samplesOf(*s, look)
	soaked := recorder.Recording()
	look()
	draft.Count(soaked)
	draft.Keep(soaked, nil)
	draft.Drift(soaked)
	part := draft.Conclude(inspect.Result{})
	config := loadtest.Config{Target: &target.Target{Kind: target.KindURL, BaseURL: base, Profile: profile.Embedded()}}
	o := loadtest.Outcome{Results: loadtest.NotMeasured(config, time.Now(), "simulated", false), Parts: []verdict.Outcome{part}}
	o.Results.Scenarios, o.Results.Traffic = []load.Scenario{part.Scenario}, verdict.Traffic(o.Parts)
	look()
	f := loadFlags{}
	f.output = dir
	failed := f.writeLoad(o, chosen).failed
	look()
	runtime.KeepAlive(o)
	return failed
}

// looks is how often samplesOf looks at what the recorder holds.
const looks = 16

// samplesOf records what a server with a few stalls makes of the scenario.
func samplesOf(s scenario.Scenario, look func()) *measure.Recorder {
	n := int(s.Rate * s.Duration.Seconds())
	r := measure.NewRecorder(s.Name, time.Now(), schedule.Constant(s.Rate, s.Duration))
	random := rand.New(rand.NewPCG(1, 2))
	labels := s.Labels()
	for i := range n {
		if i%(n/looks) == 0 {
			look()
		}
		due := time.Duration(float64(i) / s.Rate * float64(time.Second))
		takes := 300*time.Microsecond + time.Duration(random.ExpFloat64()*float64(time.Millisecond))
		if stall := due % (10 * time.Minute); stall < time.Second {
			takes += time.Second - stall
		}
		sent := due + time.Duration(random.IntN(500_000))
		r.Add(measure.Sample{Seq: uint64(i), Label: labels[i%len(labels)], Due: due, Sent: sent, Done: sent + takes, Status: 200, Bytes: 6200})
	}
	return r
}

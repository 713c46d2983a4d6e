// Command frozen runs the program of this checkout against the defects and quirks of an
// earlier commit: whoever makes the suites smaller sees what they no longer catch. The
// player of these faults is built from that commit and never ported.
//
//	frozen -player PROGRAM -program PROGRAM [-sample N] [-seed S] [-only PATTERN]
//
// It exits with 1 if a defect is not caught and not waived, if a requirement × operation
// that exists loses its last defect, or if a quirk fails.
package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Fault is a defect or, without a requirement, a quirk.
type Fault struct{ ID, Requirement, Operation, Doc string }

func (f Fault) quirk() bool { return f.Requirement == "" }

// Rows of the lists on which defects are tried, one after the other, and quirks.
const shortLists, wholeLists = 107, 227

// waived lists the defects that need not be caught: “id: reason” in each line.
//
//go:embed waived.txt
var waived string

func main() {
	var g gate
	var sample int
	var seed uint64
	var player string
	flag.StringVar(&player, "player", "", "program that plays the faults")
	flag.StringVar(&g.program, "program", "", "program that must catch them")
	flag.StringVar(&g.only, "only", "*/*", "pattern of path.Match for the ids of faults")
	flag.IntVar(&sample, "sample", 0, "number of faults to draw; 0 means all")
	flag.Uint64Var(&seed, "seed", 1, "seed of the sample")
	flag.IntVar(&g.workers, "workers", 6, "runs at the same time")
	flag.Parse()
	if err := g.run(player, sample, seed); err != nil {
		fmt.Fprintln(os.Stderr, "frozen:", err)
		os.Exit(1)
	}
}

type gate struct {
	program, only, control string
	workers                int

	mu                      sync.Mutex
	caught, missed, excused []Fault
	quirks, failed          []Fault
	breakdowns              []string
}

var errGate = errors.New("the program lost something")

func (g *gate) run(player string, sample int, seed uint64) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop() // also if it does not start
	command := exec.CommandContext(ctx, player)
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	defer func() {
		stop()
		_ = command.Wait() // it is killed
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return fmt.Errorf("the player printed no address: %w", err)
	}
	g.control = strings.TrimSpace(line)
	all, err := g.list()
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(f Fault) bool { match, _ := path.Match(g.only, f.ID); return !match })
	if sample > 0 {
		rng := rand.New(rand.NewPCG(seed, 0))
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:min(sample, len(all))]
	}
	// What takes longest comes first, so that no run is alone in the end.
	slices.SortStableFunc(all, func(a, b Fault) int {
		return strings.Compare(a.Requirement[:min(1, len(a.Requirement))], b.Requirement[:min(1, len(b.Requirement))])
	})
	began := time.Now()
	jobs := make(chan Fault)
	var workers sync.WaitGroup
	for range g.workers {
		workers.Go(func() {
			for fault := range jobs {
				g.judge(fault)
			}
		})
	}
	for i, fault := range all {
		if i%200 == 199 {
			fmt.Fprintf(os.Stderr, "%d of %d, %d not caught, %d quirks failed, %.0f s\n", i+1, len(all), len(g.missed), len(g.failed), time.Since(began).Seconds())
		}
		jobs <- fault
	}
	close(jobs)
	workers.Wait()
	return g.report(time.Since(began), sample == 0 && g.only == "*/*")
}

func (g *gate) list() (all []Fault, err error) {
	response, err := http.Get(g.control + "/faults")
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }() // it was read completely
	return all, json.NewDecoder(response.Body).Decode(&all)
}

// flawed are quirks that the player does not always play as legal behaviour. In rows-go, others
// may delete a test before the player knows that the run created it. In rows-come-and-go, a
// copy of an attempt joins the delivery with the same retry_count. The gate fails such a quirk
// only if it fails 3 times.
var flawed = []string{"lists/rows-go", "lists/rows-come-and-go"}

// judge tries a defect on short lists, then on whole ones until it is caught; a quirk on whole
// ones until it is accepted.
func (g *gate) judge(f Fault) {
	rows := []int{shortLists, wholeLists, wholeLists}
	switch {
	case slices.Contains(flawed, f.ID):
		rows = []int{wholeLists, wholeLists, wholeLists}
	case f.quirk():
		rows = []int{wholeLists}
	}
	var broken []string
	var err error
	for _, n := range rows {
		if broken, err = g.try(f, n); err == nil && len(broken) > 0 != f.quirk() {
			break
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	_, isWaived := reasons()[f.ID]
	switch {
	case err != nil:
		g.breakdowns = append(g.breakdowns, fmt.Sprintf("%s: %v", f.ID, err))
	case f.quirk() && len(broken) > 0:
		f.Doc += ": " + strings.Join(broken, ", ")
		g.failed = append(g.failed, f)
	case f.quirk():
		g.quirks = append(g.quirks, f)
	case len(broken) > 0:
		g.caught = append(g.caught, f)
	case isWaived:
		g.excused = append(g.excused, f)
	default:
		g.missed = append(g.missed, f)
	}
}

// try plays the fault and returns the checks that fail: the defect's own if it still
// exists, and else all of its operation.
func (g *gate) try(f Fault, rows int) ([]string, error) {
	response, err := http.Post(g.control+"/targets?"+url.Values{"fault": {f.ID}, "rows": {strconv.Itoa(rows)}}.Encode(), "", nil)
	if err != nil {
		return nil, err
	}
	profile, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil || response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the player answers %s %s: %w", response.Status, profile, err)
	}
	defer g.end(response.Header.Get("Location"))
	if f.quirk() {
		return g.judged(profile)
	}
	failed, err := g.judged(profile, "--operation", f.Operation, "--requirement", f.Requirement)
	if errors.Is(err, errUnknown) {
		return g.judged(profile, "--operation", f.Operation)
	}
	own := f.Requirement + " on " + f.Operation
	return slices.DeleteFunc(failed, func(check string) bool { return check != own }), err
}

func (g *gate) end(target string) {
	request, _ := http.NewRequest(http.MethodDelete, g.control+"/targets?"+url.Values{"url": {target}}.Encode(), nil)
	if response, err := http.DefaultClient.Do(request); err == nil {
		_ = response.Body.Close()
	}
}

var errUnknown = errors.New("the program does not know the check")

// judged runs the program against the profile's target and returns the checks that failed.
func (g *gate) judged(profile []byte, selection ...string) ([]string, error) {
	directory, err := os.MkdirTemp("", "frozen-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(directory) }() // it is in the temporary directory
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Minute)
	defer stop()
	command := exec.CommandContext(ctx, g.program, append([]string{"run", "--target-profile", "-", "--seed", "1", "--quiet", "--output", directory}, selection...)...)
	command.Stdin = bytes.NewReader(profile)
	said, err := command.CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 2 && len(selection) > 2 {
		return nil, errUnknown
	}
	text, readErr := os.ReadFile(filepath.Join(directory, "results.json"))
	if readErr != nil {
		return nil, fmt.Errorf("no results (%w): %s", err, said)
	}
	var results struct {
		Checks []struct{ Requirement, Operation, Outcome string }
	}
	if err := json.Unmarshal(text, &results); err != nil {
		return nil, err
	}
	var failed []string
	for _, c := range results.Checks {
		if c.Outcome == "fail" {
			failed = append(failed, c.Requirement+" on "+c.Operation)
		}
	}
	return failed, nil
}

// reasons are those of the waived defects, by id.
var reasons = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(waived) {
		if id, reason, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && !strings.HasPrefix(id, "#") {
			all[id] = reason
		}
	}
	return all
})

func (g *gate) report(took time.Duration, whole bool) error {
	for _, f := range g.missed {
		fmt.Printf("not caught: %s: the server %s\n", f.ID, f.Doc)
	}
	for _, f := range g.failed {
		fmt.Printf("quirk failed: %s: the server %s\n", f.ID, f.Doc)
	}
	for _, b := range g.breakdowns {
		fmt.Println("no result:", b)
	}
	lost := 0
	if whole {
		alive := map[string]bool{}
		for _, f := range g.caught {
			alive[f.Requirement+" on "+f.Operation] = true
		}
		for _, f := range slices.Concat(g.missed, g.excused) {
			if pair := f.Requirement + " on " + f.Operation; !alive[pair] {
				alive[pair] = true
				fmt.Printf("no defect left: %s\n", pair)
				lost++
			}
		}
	}
	fmt.Printf("%d defects caught, %d waived, %d not caught; %d quirks accepted, %d failed; %d without a result; %.0f s\n",
		len(g.caught), len(g.excused), len(g.missed), len(g.quirks), len(g.failed), len(g.breakdowns), took.Seconds())
	if len(g.missed)+len(g.failed)+len(g.breakdowns)+lost > 0 {
		return errGate
	}
	return nil
}

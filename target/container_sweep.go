package target

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
	"golang.org/x/sync/errgroup"
)

// Labels of everything that a run starts. They are but two, since an engine
// without BuildKit takes a second for each when it builds an image.
const (
	labelRun   = "outreach.example.run"   // id of the run
	labelOwner = "outreach.example.owner" // the harness: see owner
)

// abandonedAfter is the age at which what was started from another machine,
// whose processes cannot be seen, counts as left behind.
const abandonedAfter = 24 * time.Hour

// stopGrace is how long a container may take to end by itself, in seconds.
const stopGrace = 2

// labelsOf returns the labels of a run of this process.
func labelsOf(runID string) map[string]string {
	return map[string]string{labelRun: runID, labelOwner: owner(time.Now())}
}

// owner names this process, its machine and the time: "4711@build-7 2026-03-01T09:30:00Z".
func owner(now time.Time) string {
	return fmt.Sprintf("%d@%s %s", os.Getpid(), machine(), now.UTC().Format(time.RFC3339))
}

// machine is the name of this one. Without a name, age alone tells.
func machine() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
}

// leftBehind reports whether the run with that owner is gone: its process on
// this machine or, where that cannot be seen, its time. What it cannot read is
// not its own to judge.
func leftBehind(owner string, now time.Time) bool {
	process, started, _ := strings.Cut(owner, " ")
	number, host, _ := strings.Cut(process, "@")
	pid, err := strconv.Atoi(number)
	if err != nil || pid <= 0 {
		return false
	}
	if host != "" && host == machine() {
		return !alive(pid)
	}
	at, err := time.Parse(time.RFC3339, started)
	return err == nil && now.Sub(at) > abandonedAfter
}

// Sweep removes the containers, networks and built images of runs that were
// killed before they could do so. It touches nothing else.
func Sweep(ctx context.Context) error {
	docker, err := connect(ctx)
	if err != nil {
		return err
	}
	if err := docker.sweep(ctx); err != nil {
		return fmt.Errorf("target: %w", err)
	}
	return nil
}

func (e *engine) sweep(ctx context.Context) error {
	found, err := e.labelled(ctx, labelRun)
	if err != nil {
		return err
	}
	var failed []error
	done := map[string]bool{}
	for _, labels := range found {
		if run := labels[labelRun]; !done[run] && leftBehind(labels[labelOwner], time.Now()) {
			done[run] = true
			failed = append(failed, e.remove(ctx, run))
		}
	}
	return errors.Join(failed...)
}

// labelled returns the labels of all that bears the label.
func (e *engine) labelled(ctx context.Context, label string) ([]map[string]string, error) {
	filter := make(client.Filters).Add("label", label)
	containers, err := e.api.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: filter})
	if err != nil {
		return nil, err
	}
	networks, err := e.api.NetworkList(ctx, client.NetworkListOptions{Filters: filter})
	if err != nil {
		return nil, err
	}
	images, err := e.api.ImageList(ctx, client.ImageListOptions{Filters: filter})
	if err != nil {
		return nil, err
	}
	var all []map[string]string
	for _, c := range containers.Items {
		all = append(all, c.Labels)
	}
	for _, n := range networks.Items {
		all = append(all, n.Labels)
	}
	for _, i := range images.Items {
		all = append(all, i.Labels)
	}
	return all, nil
}

// remove takes down all that bears the label of the run: containers, which may
// end by themselves first, then networks and the images that were built for it.
func (e *engine) remove(ctx context.Context, run string) error {
	filter := make(client.Filters).Add("label", labelRun+"="+run)
	containers, err := e.api.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: filter})
	if err != nil {
		return err
	}
	var removing errgroup.Group
	for _, c := range containers.Items {
		removing.Go(func() error { return e.removeContainer(ctx, c.ID) })
	}
	failed := []error{removing.Wait()}

	networks, err := e.api.NetworkList(ctx, client.NetworkListOptions{Filters: filter})
	failed = append(failed, err)
	for _, n := range networks.Items {
		_, err := e.api.NetworkRemove(ctx, n.ID, client.NetworkRemoveOptions{})
		failed = append(failed, unlessGone(err))
	}
	images, err := e.api.ImageList(ctx, client.ImageListOptions{Filters: filter})
	failed = append(failed, err)
	for _, i := range images.Items {
		_, err := e.api.ImageRemove(ctx, i.ID, client.ImageRemoveOptions{Force: true, PruneChildren: true})
		failed = append(failed, unlessGone(err))
	}
	return errors.Join(failed...)
}

func (e *engine) removeContainer(ctx context.Context, id string) error {
	grace := stopGrace
	if _, err := e.api.ContainerStop(ctx, id, client.ContainerStopOptions{Timeout: &grace}); unlessGone(err) != nil {
		return err
	}
	_, err := e.api.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	if errdefs.IsConflict(err) {
		return e.untilGone(ctx, id)
	}
	return unlessGone(err)
}

// untilGone waits for a container that somebody else is removing.
func (e *engine) untilGone(ctx context.Context, id string) error {
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		if _, err := e.api.ContainerInspect(ctx, id, client.ContainerInspectOptions{}); err != nil {
			return unlessGone(err)
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// unlessGone lets go of the error that something is not there any more, or is
// being removed by somebody else just now.
func unlessGone(err error) error {
	if errdefs.IsNotFound(err) || errdefs.IsConflict(err) {
		return nil
	}
	return err
}

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

// labelRun is the label of everything that a run starts: the id of the run, and
// its owner. It is but one, since an engine without BuildKit sets each label of
// an image in a step of its own: a build that is broken off between two would
// leave what no sweep can tell.
const labelRun = "outreach.example.run"

// abandonedAfter is the age at which what was started from another machine,
// whose processes cannot be seen, counts as left behind.
const abandonedAfter = 24 * time.Hour

// stopGrace is how long a container may take to end by itself, in seconds.
const stopGrace = 2

// labelOf returns the label's value for a run of this process.
func labelOf(runID string) string { return runID + " " + owner(time.Now()) }

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
	found, err := e.labelled(ctx)
	if err != nil {
		return err
	}
	var failed []error
	for label := range found {
		if _, owner, _ := strings.Cut(label, " "); leftBehind(owner, time.Now()) {
			failed = append(failed, e.remove(ctx, label))
		}
	}
	return errors.Join(failed...)
}

// labelled returns the different values of the label on all that bears it.
func (e *engine) labelled(ctx context.Context) (map[string]bool, error) {
	filter := make(client.Filters).Add("label", labelRun)
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
	all := map[string]bool{}
	for _, c := range containers.Items {
		all[c.Labels[labelRun]] = true
	}
	for _, n := range networks.Items {
		all[n.Labels[labelRun]] = true
	}
	for _, i := range images.Items {
		all[i.Labels[labelRun]] = true
	}
	return all, nil
}

// remove takes down all that bears the label with that value: containers, which
// may end by themselves first, then networks and the images that were built.
func (e *engine) remove(ctx context.Context, label string) error {
	filter := make(client.Filters).Add("label", labelRun+"="+label)
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

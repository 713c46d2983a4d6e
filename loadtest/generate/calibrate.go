package generate

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"outreach.example/conformance/loadtest/inspect"
	"outreach.example/conformance/loadtest/measure"
)

const (
	saturating      = 700 * time.Millisecond
	sampling        = time.Second
	saturationRate  = 200_000 // requests per second, more than one machine can send
	saturatingInUse = 64      // connections
)

// CalibrationOptions describe the load of a calibration.
type CalibrationOptions struct {
	// Body is the body of the null server's responses: one of the target's, or as
	// many bytes.
	Body []byte
	// Request and Inspect are as in a phase, because inspection is a part of the
	// load. The request must have no body and needs no path.
	Request Request
	Inspect inspect.Func
	// Child is a command that runs NullServer on its standard input and output. The
	// size of the body is added as the last argument. If Child is empty, the null
	// server runs in this process and shares its processor time.
	Child []string
}

// Calibrate loads a null server on this machine for about 2 s: first with as many
// requests as get through, then with half of that.
func Calibrate(ctx context.Context, opts CalibrationOptions) (measure.Calibration, error) {
	c := measure.Calibration{Shared: len(opts.Child) == 0, Bytes: len(opts.Body)}
	base, stop, err := startNull(ctx, opts)
	if err != nil {
		return c, fmt.Errorf("generate: calibration: %w", err)
	}
	defer stop()
	opts.Request.Path = cmp.Or(opts.Request.Path, "/")
	send := func(workers int, rate float64, lasts time.Duration) (measure.Recording, error) {
		g, err := New(Options{BaseURL: base, Workers: workers, Timeout: sampling})
		if err != nil {
			return measure.Recording{}, err
		}
		defer g.Close()
		rec, _, err := g.Run(ctx, Phase{Name: "calibration", Schedule: measure.Constant(rate, lasts), Inspect: opts.Inspect, LateTolerance: time.Nanosecond,
			Mix: func(uint64) Request { return opts.Request }})
		return rec, err
	}
	most, err := send(saturatingInUse, saturationRate, saturating)
	if err != nil {
		return c, err
	}
	c.Ceiling = float64(most.Count(measure.Accepted)) / saturating.Seconds()
	if c.Ceiling == 0 {
		return c, errors.New("generate: calibration: the null server did not respond")
	}
	c.Rate = c.Ceiling / 2
	before, known := processorTime()
	r, err := send(0, max(c.Rate, 10), sampling)
	if err != nil {
		return c, err
	}
	if after, _ := processorTime(); known && r.Sent > 0 { // 0 if the system does not report it
		c.CPU = (after - before) / time.Duration(r.Sent)
	}
	c.Lag, c.Adds = r.Lag.Quantile(0.99), r.Service[measure.Accepted].Value(0.99)
	return c, nil
}

// startNull starts the null server and returns its address.
func startNull(ctx context.Context, opts CalibrationOptions) (base string, stop func(), err error) {
	var until io.Closer // ends the server
	var said io.Reader
	var wait func() error
	if len(opts.Child) > 0 {
		child := exec.CommandContext(ctx, opts.Child[0], append(opts.Child[1:len(opts.Child):len(opts.Child)], fmt.Sprint(len(opts.Body)))...)
		child.Stderr = os.Stderr
		ownGroup(child)
		var inErr, outErr error
		until, inErr = child.StdinPipe()
		said, outErr = child.StdoutPipe()
		wait = child.Wait
		if err := errors.Join(inErr, outErr, child.Start()); err != nil {
			return "", nil, fmt.Errorf("the null server: %w", err)
		}
	} else {
		in, end := io.Pipe()
		address, out := io.Pipe()
		var serving errgroup.Group
		serving.Go(func() error { return out.CloseWithError(NullServer(opts.Body, out, in)) })
		until, said, wait = end, address, serving.Wait
	}
	stop = func() {
		_ = until.Close()
		_ = wait()
	}
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		stop()
		return "", nil, fmt.Errorf("the null server did not print its address: %w", err)
	}
	return strings.TrimSpace(line), stop, nil
}

package generate

import (
	"bufio"
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
	"outreach.example/conformance/loadtest/schedule"
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
	// Rate is the rate at which lag and processor time are measured. 0, or a rate
	// that is too high, means half of the ceiling.
	Rate float64
	// Request and Inspect are as in a phase, because inspection is a part of the
	// load. The request must have no body and needs no path.
	Request Request
	Inspect inspect.Func
	// Child is a command that runs NullServer on its standard input and output. The
	// size of the body is added as the last argument. If Child is empty, the null
	// server runs in this process and shares its processor time.
	Child []string
}

// Calibrate loads a null server on this machine for about 2 s.
func Calibrate(ctx context.Context, opts CalibrationOptions) (measure.Calibration, error) {
	c := measure.Calibration{Shared: len(opts.Child) == 0, Bytes: len(opts.Body)}
	base, stop, err := startNull(ctx, opts)
	if err != nil {
		return c, fmt.Errorf("generate: calibration: %w", err)
	}
	defer stop()
	if opts.Request.Path == "" {
		opts.Request.Path = "/"
	}
	phase := func(name string, rate float64, d time.Duration) Phase {
		return Phase{Name: name, Schedule: schedule.Constant(rate, d), Inspect: opts.Inspect, LateTolerance: time.Nanosecond,
			Mix: func(uint64) Request { return opts.Request }}
	}
	if c.Ceiling, err = findCeiling(ctx, base, phase("saturation", saturationRate, saturating)); err != nil {
		return c, err
	}
	c.Rate = c.Ceiling / 2
	if opts.Rate > 0 && opts.Rate < measure.NearCeiling*c.Ceiling {
		c.Rate = opts.Rate
	}
	return c, sample(ctx, &c, base, phase("calibration", max(c.Rate, 10), sampling))
}

// findCeiling measures how many requests a second get through if the next one is
// always due.
func findCeiling(ctx context.Context, base string, p Phase) (float64, error) {
	g, err := New(Options{BaseURL: base, Workers: saturatingInUse, Timeout: sampling})
	if err != nil {
		return 0, err
	}
	defer g.Close()
	r, err := g.Run(ctx, p)
	if err != nil {
		return 0, err
	}
	if r.Count(measure.Accepted) == 0 {
		return 0, errors.New("generate: calibration: the null server did not respond")
	}
	return float64(r.Count(measure.Accepted)) / saturating.Seconds(), nil
}

// sample measures the send lag, the service time of the null server and the processor time
// of a request; 0 if the system does not report it.
func sample(ctx context.Context, c *measure.Calibration, base string, p Phase) error {
	g, err := New(Options{BaseURL: base, Timeout: sampling})
	if err != nil {
		return err
	}
	defer g.Close()
	before, known := processorTime()
	r, err := g.Run(ctx, p)
	if err != nil {
		return err
	}
	if after, _ := processorTime(); known && r.Sent > 0 {
		c.CPU = (after - before) / time.Duration(r.Sent)
	}
	c.Lag, c.Adds = r.Lag.Quantile(0.99), r.Service[measure.Accepted].Value(0.99)
	return nil
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

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

	"outreach.example/conformance/loadtest/inspect"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/schedule"
)

const (
	saturating      = 700 * time.Millisecond
	sampling        = time.Second
	saturationRate  = 200_000 // requests per second, more than one machine can send
	saturatingInUse = 64      // connections
	// near is the share of the ceiling above which the generator affects the figures.
	near = 0.8
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

// Calibration is what the generator can do on this machine now.
type Calibration struct {
	Ceiling float64          // highest requests per second with the null server on the same machine
	Rate    float64          // requests per second at which the rest was measured
	Lag     measure.Estimate // 99th percentile of the send lag
	CPU     time.Duration    // processor time of one request; 0 if the system does not report it
	// Shared is true if the null server ran in this process. CPU then includes its
	// share, and the ceiling is lower.
	Shared bool
	Bytes  int // of a response's body
}

// Calibrate loads a null server on this machine for about 2 s.
func Calibrate(ctx context.Context, opts CalibrationOptions) (Calibration, error) {
	c := Calibration{Shared: len(opts.Child) == 0, Bytes: len(opts.Body)}
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
	if err := c.findCeiling(ctx, base, phase("saturation", saturationRate, saturating)); err != nil {
		return c, err
	}
	c.Rate = c.Ceiling / 2
	if opts.Rate > 0 && opts.Rate < near*c.Ceiling {
		c.Rate = opts.Rate
	}
	return c, c.takeLag(ctx, base, phase("calibration", max(c.Rate, 10), sampling))
}

// findCeiling measures how many requests get through if the next one is always due.
func (c *Calibration) findCeiling(ctx context.Context, base string, p Phase) error {
	g, err := New(Options{BaseURL: base, Workers: saturatingInUse, Timeout: sampling})
	if err != nil {
		return err
	}
	defer g.Close()
	r, err := g.Run(ctx, p)
	if err != nil {
		return err
	}
	if r.Count(measure.Accepted) == 0 {
		return errors.New("generate: calibration: the null server did not respond")
	}
	c.Ceiling = float64(r.Count(measure.Accepted)) / saturating.Seconds()
	return nil
}

func (c *Calibration) takeLag(ctx context.Context, base string, p Phase) error {
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
	c.Lag = r.Lag.Quantile(0.99)
	return nil
}

// Limits reports whether the generator affected the figures of the recording, and
// why: the rate was near its ceiling, or it sent late.
func (c Calibration) Limits(r measure.Recording) (bool, string) {
	if near, why := c.Near(r); near {
		return true, why
	}
	return Late(r)
}

// Near reports whether the recording's rate is near the generator's ceiling.
func (c Calibration) Near(r measure.Recording) (bool, string) {
	asked := peak(r)
	if c.Ceiling <= 0 || asked <= near*c.Ceiling {
		return false, ""
	}
	of := "" // the size is not known for the ceiling of another process
	if c.Bytes > 0 {
		of = fmt.Sprintf(" (answers of %d bytes)", c.Bytes)
	}
	return true, fmt.Sprintf("%.0f requests/s are near the ceiling of this generator, %.0f/s with a null server%s (stay below %.0f/s, or use more generators)",
		asked, c.Ceiling, of, near*c.Ceiling)
}

// Late reports whether the 99th percentile of the send lag is above measure's
// LagLimit, and describes it.
func Late(r measure.Recording) (bool, string) {
	lag, limit := r.Lag.Quantile(0.99).Value, r.LagLimit()
	if r.Sent == 0 || lag <= limit {
		return false, ""
	}
	return true, fmt.Sprintf("1 %% of the requests were sent more than %s after they were due; the limit is %s (use an idle machine, a lower rate, a higher --concurrency, or --lag-limit)",
		round(lag), round(limit))
}

// peak returns the highest rate that one second of the recording asked for.
func peak(r measure.Recording) float64 {
	highest := 0.0
	for _, second := range r.Series {
		if length := min(time.Second, r.Duration-time.Duration(second.At)*time.Second); length > 0 {
			highest = max(highest, float64(second.Asked)/length.Seconds())
		}
	}
	return highest
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }

// startNull starts the null server and returns its address.
func startNull(ctx context.Context, opts CalibrationOptions) (base string, stop func(), err error) {
	if len(opts.Child) > 0 {
		return startChild(ctx, opts)
	}
	until, end := io.Pipe()
	said, out := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = out.CloseWithError(NullServer(opts.Body, out, until))
	}()
	stop = func() {
		_ = end.Close()
		_ = said.Close()
		<-done
	}
	if base, err = firstLine(said); err != nil {
		stop()
	}
	return base, stop, err
}

func startChild(ctx context.Context, opts CalibrationOptions) (base string, stop func(), err error) {
	child := exec.CommandContext(ctx, opts.Child[0], append(opts.Child[1:len(opts.Child):len(opts.Child)], fmt.Sprint(len(opts.Body)))...)
	child.Stderr = os.Stderr
	ownGroup(child)
	until, err := child.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	said, err := child.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := child.Start(); err != nil {
		return "", nil, fmt.Errorf("the null server: %w", err)
	}
	stop = func() {
		_ = until.Close()
		_ = child.Wait()
	}
	if base, err = firstLine(said); err != nil {
		stop()
	}
	return base, stop, err
}

func firstLine(r io.Reader) (string, error) {
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("the null server did not print its address: %w", err)
	}
	return strings.TrimSpace(line), nil
}

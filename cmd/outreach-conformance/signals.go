package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/sandbox/journal"
)

// stopSignals are the signals that end a command early: it then puts back what it
// changed and writes what it has found out. That a terminal closes is one of
// them, unless the program was started to outlive it, as nohup does.
func stopSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// ignoreSIGPIPE keeps the process alive when whoever reads its output is gone,
// such as a tee that the same interrupt has ended: there is something to put
// back. What is written then fails like any other writing. To ignore the signal
// would have the commands that we start ignore it, too.
func ignoreSIGPIPE() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// handleSecondInterrupt tells, when the command is interrupted, that what it changed on
// the target is put back, for which somebody may have to wait, and ends the
// process at once at the next Ctrl-C: the journal stays for a cleanup. No other
// signal is impatient: of terminals that close, and of timeout(1), the same comes
// twice.
func (f runFlags) handleSecondInterrupt(t *target.Target, stderr io.Writer) (stop func()) {
	if f.journals(t) == "" {
		return func() {} // nothing is put back, and containers must be taken down
	}
	signals, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, stopSignals()...)
	next := func() (s os.Signal, came bool) {
		select {
		case s = <-signals:
			return s, true
		case <-done:
			return nil, false
		}
	}
	go func() {
		if _, came := next(); !came {
			return
		}
		if journal.Tells(f.output, t.BaseURL) {
			begin := ""
			if file, ok := stderr.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
				begin = "\n" // below the live line, in which the terminal shows the ^C
			}
			_, _ = fmt.Fprintln(stderr, begin+"outreach-conformance: interrupted: rolling back changes on the target (press Ctrl-C again to stop now and clean up later)")
		}
		for s, came := next(); came; s, came = next() {
			if s == os.Interrupt {
				if journal.Tells(f.output, t.BaseURL) {
					f.tellOfCleanup(t, stderr)
				}
				os.Exit(exitInterrupted)
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}

package main

import (
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// stopSignals are the signals that interrupt a command, so that it rolls back its
// changes and writes partial results. SIGHUP, a closed terminal, is one of them
// unless the process inherits that it is ignored, as with nohup.
func stopSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// ignoreSIGPIPE keeps the process alive if the reader of its output has ended, such
// as a tee that got the same Ctrl-C: changes must be rolled back. Writes then return
// an error. signal.Ignore would pass on to the commands that the process starts.
func ignoreSIGPIPE() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// twinTime is how long further interrupts after the first one do not count: timeout(1)
// sends a signal to the process and to its group. A person acts on the announcement,
// which comes after that time.
const twinTime = 500 * time.Millisecond

// interruptedTwice waits for a signal, calls announce, waits for a Ctrl-C after that and calls
// end. It returns before if done is closed.
func interruptedTwice(signals <-chan os.Signal, done <-chan struct{}, announce, end func()) {
	select {
	case <-signals:
	case <-done:
		return
	}
	for twins := time.After(twinTime); twins != nil; {
		select {
		case <-signals:
		case <-twins:
			twins = nil
		case <-done:
			return
		}
	}
	announce()
	for {
		select {
		case s := <-signals:
			if s == os.Interrupt {
				end()
				return
			}
		case <-done:
			return
		}
	}
}

// leaving holds what the running command says at an interrupt: first before it rolls back,
// last before a second one ends the process. The process has one, as it has signals.
var leaving atomic.Pointer[struct{ first, last func() }]

// endAtSecondInterrupt ends the process at the Ctrl-C after an interrupt, whatever the
// command waits for; the journal then stays for cleanup. Other signals never do: a closed
// terminal and timeout(1) send the same signal twice.
func endAtSecondInterrupt() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, stopSignals()...)
	go interruptedTwice(signals, nil, func() {
		if say := leaving.Load(); say != nil {
			say.first()
		}
	}, func() {
		if say := leaving.Load(); say != nil {
			say.last()
		}
		os.Exit(exitInterrupted)
	})
}

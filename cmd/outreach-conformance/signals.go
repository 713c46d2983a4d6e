package main

import (
	"os"
	"os/signal"
	"syscall"
)

// endings are the signals that end a command early: it then puts back what it
// changed and writes what it has found out. That a terminal closes is one of
// them, unless the program was started to outlive it, as nohup does.
func endings() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// outliveReaders keeps the process alive when whoever reads its output is gone,
// such as a tee that the same interrupt has ended: there is something to put
// back. What is written then fails like any other writing. To ignore the signal
// would have the commands that we start ignore it, too.
func outliveReaders() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

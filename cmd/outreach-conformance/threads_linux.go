package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
)

const (
	// spareThreads is how many threads a run needs beside those that run Go code. The Go
	// runtime ends the process if it cannot start one, with the exit code of a usage error.
	spareThreads = 6
	// manyThreads is the limit from which threads are not counted.
	manyThreads = 4096
)

// tooFewThreads says that the user may not start as many threads as a run needs; "" if
// there are enough, or if that is unknown. The limit does not bind root.
func tooFewThreads() string {
	const limitOfProcesses = 6 // RLIMIT_NPROC, which package syscall does not name
	var limit syscall.Rlimit
	if os.Geteuid() == 0 || syscall.Getrlimit(limitOfProcesses, &limit) != nil || limit.Cur > manyThreads {
		return ""
	}
	need, free := runtime.GOMAXPROCS(0)+spareThreads, int(limit.Cur)-threadsOfUser(os.Getuid())
	if free >= need {
		return ""
	}
	return fmt.Sprintf("too few threads: the user may start %d more, and a run needs %d (raise ulimit -u)", max(0, free), need)
}

// threadsOfUser counts the threads that count against the limit.
func threadsOfUser(uid int) (n int) {
	all, _ := filepath.Glob("/proc/[0-9]*/status") // the pattern is valid
	for _, name := range all {
		status, err := os.ReadFile(name)
		if err == nil && entryOf(status, "Uid:") == uid { // it may have ended
			n += entryOf(status, "Threads:")
		}
	}
	return n
}

// entryOf returns the first number behind the name in the status of a process; -1 without
// it.
func entryOf(status []byte, name string) int {
	_, after, _ := bytes.Cut(status, []byte("\n"+name))
	fields := bytes.Fields(after)
	if len(fields) == 0 {
		return -1
	}
	n, err := strconv.Atoi(string(fields[0]))
	if err != nil {
		return -1
	}
	return n
}

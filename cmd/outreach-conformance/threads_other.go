//go:build !linux

package main

// tooFewThreads returns "": the limit of threads is known only on Linux.
func tooFewThreads() string { return "" }

// Package generate sends the requests of a phase on schedule and measures what
// becomes of them. It is the only home of Vegeta, whose engine it uses: the
// workers, the loop that wakes them, and the format of raw results.
//
// What Vegeta gets wrong by itself is done here. Its own latency counts from the
// sending, so a server that stalls holds back the requests that would have shown
// it: here every time counts from the moment that the schedule names. Its
// worker limit closes the loop without a word: here what goes out late or not at
// all is counted. Its pacer catches up in bursts, its results carry whole bodies:
// here catching up is bounded, and bodies are read into buffers that are used
// again and handed to an inspector. Its client wakes two more goroutines for each
// request: here the one that sends it also reads the answer.
//
// The package imports client, judge, loadtest/inspect, loadtest/measure and
// loadtest/schedule. It must not import the packages above it: scenarios,
// thresholds, reports.
package generate

// Package client is the harness's only HTTP client: it takes a request and
// returns an exchange. It bounds concurrency, pace, time and size. It waits out
// 429 responses, counts traffic, and redacts API keys from everything that people
// read. A Detector notices that the target has stopped responding.
//
// It judges nothing. It must not import the catalogue, schemas, fixtures, suites
// or an assertion library.
package client

// Package client is the harness's one HTTP client: a request goes in, an
// exchange comes out. It bounds concurrency, pace, time and size, waits 429
// answers out, counts the traffic, and keeps API keys out of everything that a
// person will read.
//
// It judges nothing. It must not import the catalogue, schemas, fixtures,
// suites or any assertion library: an exchange looks the same to every reader.
package client

// Package swarm holds fan-out, the script that shares a load plan among workers
// on a Docker Swarm. Its tests show on a real engine that the merged parts equal
// what one process would have sent and measured.
//
// It has no Go code besides tests, and nothing imports it.
package swarm

// Package swarm holds fan-out, the script that shares a load plan among workers
// on a Docker Swarm, and shows on a real engine that the parts come to what one
// process would have sent and measured.
//
// It has no Go code but tests, and is imported by nothing.
package swarm

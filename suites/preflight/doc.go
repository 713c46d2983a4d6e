// Package preflight finds out, in seconds and before any run, what a target and its
// profile are good for: whether the server answers, whether the keys do what
// the profile claims, which rows are there, and which requirements a run would
// assess. Discover does the same without a profile and writes one.
//
// It changes nothing on the target: every request that it sends is a GET. It
// judges nothing either; what it finds is about the profile.
package preflight

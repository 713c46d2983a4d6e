// Package sequence plays sequences of changes on a target and compares each response with
// a model of the state that the steps before have led to. A sequence works on tests of its
// own, or on rows that the profile lists.
//
// The package sends everything through the API of the suites, which rolls back what it
// changes. It must not import package explore, which searches for telling sequences.
package sequence

// Package oracle predicts what a list shows. A walk of the list with the key that sees
// everything holds all its rows. Which of them another query must show, and which it must
// not, follows from the specification (sections Pagination and Endpoints).
//
// The package computes. It sends nothing and judges no target: those who compare a
// response with a prediction decide what a mismatch means. It must not import the
// suites or the client.
package oracle

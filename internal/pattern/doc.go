// Package pattern matches names of the catalogue, such as operation ids, against patterns of
// a user, and finds the name that a user may have meant. It imports nothing of this module.
package pattern

// Package redact keeps API keys out of everything that leaves the process. A Set
// knows the keys. It finds a key in six forms, in any letter case: as it is, as JSON, in
// a URL, as HTML, in base64 and in hex. It also finds the beginning of a form where a
// text is cut off. It does not find what a target hides on purpose.
//
// Process is the set of this process. Keys are added to it where they are read, made
// or sent. Whatever writes outside, to a terminal or a file, passes the bytes through
// it last: Writer for streams, Content for files.
//
// It imports no other package of this module.
package redact

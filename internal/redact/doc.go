// Package redact keeps API keys out of everything that leaves the process. A Set
// knows the keys. It finds a key, its hex and its base64 in any letter case, behind
// percent, JSON, HTML and \x escapes, and between invisible characters.
//
// Process is the set of this process. Keys are added to it where they are read, made
// or sent. Whatever writes outside, to a terminal or a file, passes the bytes through
// it last: Writer for streams, Content for files.
//
// It imports no other package of this module.
package redact

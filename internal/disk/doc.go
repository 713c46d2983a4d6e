// Package disk reads and writes the files that a user names. It opens regular files only,
// reads YAML strictly, replaces files atomically, and prepares the directory of results.
//
// It imports no other package of this module but redact and the results model.
package disk

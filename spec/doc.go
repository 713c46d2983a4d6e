// Package spec is the catalogue of what the Outreach Campaign Service API v2
// specification says: its operations, the requirements that a server can be
// judged by, and the silences, that is, what the specification leaves open.
//
// Everything here is data. Ids are permanent: they stand in reports, waivers
// and scripts of other people, so an id is never renamed, reused or renumbered.
//
// The package imports nothing of this module.
package spec

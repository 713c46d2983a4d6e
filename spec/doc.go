// Package spec is the catalogue of the Outreach Campaign Service API v2
// specification: its operations, its requirements, and its open points (what it
// leaves open).
//
// Everything here is data. Ids are permanent. Reports, waivers and other
// people's scripts use them, so an id is never renamed, reused or renumbered.
//
// It imports no other package of this module.
package spec

// Package refserver is the reference service: a complete, honest implementation
// of the Outreach Campaign Service API v2 over an in-memory data set. It serves
// the public API on one port and, on a second, the truth about what it did.
//
// Requests are checked in this order, which the specification leaves open:
// authentication (401), rate limit (429), plan (402), route and method (404,
// 405), scopes (403), validity (400, 413), existence (404). Everything is looked
// up within the workspace of the key. Unknown query parameters, an empty query
// value and unknown or read-only fields of a body are ignored; of a parameter
// that is repeated, the first value counts, except for resource_ids.
//
// Of this module it imports fixtures/dataset and its own sub-packages, never
// what judges a server. It holds no deliberate fault: faults are laid around it.
package refserver

// Package api is what specs are written with.
//
// A Call is a request in the making. An API sends it, and each response gets its verdict when
// it comes: the call names what the specification allows, and which requirement any other
// response breaks. The rules of package judge see every response. A Walk is a list read page
// by page. What a body changes on the target is rolled back when it ends.
//
// A body depends on nothing but its API: client, random source, profile and time come from the
// Env. The package knows features, not products: it must not import the reference server, and
// it reaches a target through package client alone.
package api

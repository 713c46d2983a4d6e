// Package judge turns exchanges into evidence and evidence into outcomes.
//
// Rules are what must hold for every answer of every operation, whoever asked
// and why: they are written once here and look at each exchange of a
// conformance run and at the sampled ones of a load run alike. The Ledger
// collects what rules and checks found, per requirement × operation.
//
// The package imports no test framework and sends nothing.
package judge

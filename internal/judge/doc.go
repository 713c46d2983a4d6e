// Package judge turns exchanges into evidence and evidence into outcomes.
//
// Rules hold for every response of every operation, whoever sent the request.
// They check each exchange of a conformance run and the sampled exchanges of a
// load run. Ledger collects the evidence per requirement and operation.
//
// It imports no test framework and sends no requests.
package judge

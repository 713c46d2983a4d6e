// Package explore tries random requests and compares the responses with what the
// specification predicts: queries of the lists with any key (package oracle), and
// sequences of changes with a model of the state (package sequence).
//
// An exploration begins with telling cases. Then a property-testing engine generates
// random ones. What shows a violation shrinks to the shortest case that still shows it.
// Each violated requirement is reported once.
//
// The package sends everything through the API of the suites, so every response is also
// judged by the rules, and everything that it changes is rolled back.
package explore

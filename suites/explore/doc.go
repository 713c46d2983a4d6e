// Package explore tries random requests and compares the responses with what the
// specification predicts: queries of the lists with any key (package oracle), and
// sequences of changes to rows of its own with a model of their state.
//
// A property-testing engine generates the requests. It shrinks what shows a violation to
// the shortest case that still shows it. Each violated requirement is reported once.
//
// The package sends everything through the API of the suites, so every response is also
// judged by the rules, and everything that it changes is rolled back.
package explore

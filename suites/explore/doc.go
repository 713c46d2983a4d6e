// Package explore tries random requests and compares the responses with what the
// specification predicts.
//
// A case is a few steps. A machine plays them on the target and models the state that they
// lead to: each step compares its response with the model. The property-testing engine
// rapid generates the cases. It shrinks what shows a violation. Each violated requirement is
// reported once.
//
// The package sends everything through the API of the suites, so every response is also
// judged by the rules, and everything that it changes is rolled back.
package explore

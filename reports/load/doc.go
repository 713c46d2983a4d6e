// Package load holds the results model of a load run and its JSON form. Package view
// (reports/view) shows them.
//
// The name of each number in the JSON form ends in its unit (_ms, _us, _per_second,
// _per_minute, _bytes, seconds), or a field "unit" beside it names the unit. Shares,
// probabilities and quantiles are between 0 and 1. A figure that was not measured is
// absent. No number is NaN or infinite.
//
// The package imports the results model of a run (reports) for the common parts. It
// must not import a package that sends load.
package load

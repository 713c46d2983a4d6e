// Package load holds the one results model of a load run and its JSON form.
// Views of it stand beside: a page (page), metrics (openmetrics) and text for a
// terminal (reports/console). A view adds nothing to the model and judges nothing.
//
// Every number of the JSON form stands in the unit that its name ends in (_ms,
// _us, _per_second, _per_minute, _bytes, seconds) or that a field "unit" beside
// it names. Shares, probabilities and quantiles lie between 0 and 1. What was not
// measured is left out; no number is ever NaN or infinite.
//
// The package imports the results model of a run (reports) for what both have
// in common, and no package that makes load.
package load

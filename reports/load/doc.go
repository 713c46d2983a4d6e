// Package load holds the one results model of a load run and its views: JSON,
// a self-contained HTML page, OpenMetrics and text for the console. A view adds
// nothing to the model and judges nothing.
//
// Every number of the JSON form stands in the unit that its name ends in: _ms,
// _us, _per_second, _per_minute, _bytes, seconds. Shares, probabilities and
// quantiles lie between 0 and 1. What was not measured is left out; no number
// is ever NaN or infinite.
//
// The package imports the results model of a run (reports) for what both have
// in common, and no package that makes load. It is the only home of the chart
// and of the OpenMetrics libraries.
package load

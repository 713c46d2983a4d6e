// Package generate sends the requests of a phase on schedule, with Vegeta, and
// records Vegeta's results. The mix of requests is the phase's vegeta.Targeter
// (attack.Target), the schedule is its vegeta.Pacer (pacer), and vegeta.Attacker sends
// each request through its http.Client. The transport of that client (attack.RoundTrip)
// observes what goes out and what comes back.
//
// The package adds what Vegeta lacks:
//   - Every time counts from the due time. Vegeta's latency counts from the
//     sending, so a stalled server would hold back the requests that show the stall.
//   - Late and unsent requests are counted. Vegeta's worker limit closes the loop
//     silently.
//   - Catching up is bounded. Vegeta's pacers catch up in bursts.
//   - Bodies are read into pooled buffers and handed to an inspector. Vegeta keeps
//     a copy of each body or none.
//   - A request that the server drops counts as failed. net/http may send it again.
//
// The package imports client, judge, loadtest/inspect and loadtest/measure. It must not import
// scenarios or reports.
package generate

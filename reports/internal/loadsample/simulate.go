package loadsample

import (
	"math/rand/v2"
	"slices"

	"outreach.example/conformance/reports/load"
)

// simulate returns a phase with the given latencies in milliseconds. Latency gets the
// second and the index of the request in it. A negative latency is a 429. One above
// 10 s is a request without a response.
func simulate(name string, rate, seconds int, latency func(second, place int) float64) load.Phase {
	p := load.Phase{
		Name: name, Started: started, Seconds: float64(seconds), RatePerSecond: float64(rate), IntervalSeconds: 1,
		Statuses: map[string]int64{}, Histograms: map[string]string{"response accepted": "HISTFAAAAA=="},
	}
	random := rand.New(rand.NewPCG(1, 2))
	var accepted, limited, failed, service, lag []float64
	for s := range seconds {
		second := load.Interval{T: int64(s), Asked: int64(rate), Sent: int64(rate)}
		var here, served []float64
		for i := range rate {
			took := latency(s, i)
			switch {
			case took < 0:
				second.Limited++
				p.Statuses["429"]++
				limited = append(limited, -took)
			case took > 10_000:
				second.Failed++
				p.Statuses["none"]++
				failed = append(failed, 10_000)
			default:
				second.Accepted++
				p.Statuses["200"]++
				here, served = append(here, took), append(served, min(took, 40+random.Float64()))
			}
			lag = append(lag, 0.2+0.3*random.ExpFloat64())
		}
		second.Done = second.Accepted + second.Limited + second.Failed
		second.BytesReceived = second.Accepted * 62_000
		second.Response, second.Service = brief(here), brief(served)
		accepted, service = append(accepted, here...), append(service, served...)
		p.BytesReceived += second.BytesReceived
		p.Series = append(p.Series, second)
	}
	p.Planned, p.Sent = int64(rate*seconds), int64(rate*seconds)
	p.AchievedPerSecond = float64(p.Sent) / float64(seconds)
	if p.Statuses["none"] > 0 {
		p.Failures = map[string]int64{"timeout": p.Statuses["none"]}
	}
	p.Response = load.Latency{Accepted: distribution(accepted), Limited: distribution(limited), Failed: distribution(failed)}
	p.Service = load.Latency{Accepted: distribution(service)}
	p.Lag = distribution(lag)
	return p
}

func distribution(ms []float64) *load.Distribution {
	if len(ms) == 0 {
		return nil
	}
	slices.Sort(ms)
	d := &load.Distribution{Count: int64(len(ms)), MinMS: ms[0], MaxMS: ms[len(ms)-1]}
	for _, v := range ms {
		d.MeanMS += v / float64(len(ms))
	}
	for _, p := range []float64{0.5, 0.9, 0.95, 0.99, 0.999} {
		q := load.Quantile{P: p, ValueMS: at(ms, p), LowMS: at(ms, p-0.1*(1-p)), HighMS: at(ms, p+0.1*(1-p)), Confidence: 0.95}
		if q.HighMS > 1.5*q.LowMS {
			q.Flagged, q.Why = true, "it sits on a jump"
		}
		d.Quantiles = append(d.Quantiles, q)
	}
	for _, p := range []float64{0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 0.9995, 0.9999} {
		d.Curve = append(d.Curve, load.CurvePoint{P: p, ValueMS: at(ms, p)})
	}
	return d
}

func brief(ms []float64) *load.Brief {
	if len(ms) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(ms))
	return &load.Brief{P50MS: at(sorted, 0.5), P90MS: at(sorted, 0.9), P99MS: at(sorted, 0.99), MaxMS: sorted[len(sorted)-1]}
}

// at returns the quantile p of sorted values.
func at(sorted []float64, p float64) float64 {
	return sorted[min(int(p*float64(len(sorted))), len(sorted)-1)]
}

package measure

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// WriteHDRLog writes the histograms as an HdrHistogram log (.hlog). Lines tagged
// response.accepted, service.accepted, lag, label.accepted.campaigns.list and so on span
// the whole phase. Lines tagged interval.accepted and so on span one interval each and hold
// response times by the due time, with two significant figures. Values are nanoseconds,
// maxima milliseconds.
func (r Recording) WriteHDRLog(w io.Writer) error {
	all := maps.Clone(r.histograms)
	for c, h := range r.Response {
		all[key{Kind: "response", Class: c}] = &h
	}
	log := hdr.NewHistogramLogWriter(w)
	start := int64(0)
	if !r.Start.IsZero() {
		start = r.Start.UnixMilli()
	}
	base := start - start%1000 // the log's header has whole seconds only
	log.SetBaseTime(base)
	err := cmp.Or(log.OutputComment(fmt.Sprintf("[phase %q, response times from the due time, in nanoseconds]", r.Name)),
		log.OutputLogFormatVersion(), log.OutputBaseTime(base), log.OutputStartTime(base), log.OutputLegend())
	for _, k := range slices.SortedFunc(maps.Keys(all), key.compare) {
		if all[k].Count() == 0 || k.Kind == firstKind || k.Kind == lastKind {
			continue
		}
		tag, from, lasts := k.Kind, time.Duration(0), r.Duration()
		if k.Class != "" {
			tag += "." + string(k.Class)
		}
		switch k.Kind {
		case labelKind:
			tag += "." + url.QueryEscape(k.Label)
		case intervalKind:
			from, lasts = time.Duration(k.At)*r.Width, r.Width
		}
		b := all[k].buckets.Clone() // the tag and the times are the line's, not the histogram's
		b.SetTag(tag)
		b.SetStartTimeMs(start + from.Milliseconds())
		b.SetEndTimeMs(start + (from + lasts).Milliseconds())
		err = cmp.Or(err, log.OutputIntervalPackedHistogram(b))
	}
	if err != nil {
		return fmt.Errorf("measure: HDR log of phase %q: %w", r.Name, err)
	}
	return nil
}

func (k key) compare(o key) int {
	return cmp.Or(cmp.Compare(k.Kind, o.Kind), cmp.Compare(k.At, o.At), cmp.Compare(k.Label, o.Label), cmp.Compare(k.Class, o.Class))
}

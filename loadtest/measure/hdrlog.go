package measure

import (
	"fmt"
	"io"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// WriteHDRLog writes the histograms as an HdrHistogram log (.hlog). Lines
// tagged response.accepted, service.accepted, lag and so on span the whole
// phase. Lines tagged interval.accepted and so on span one interval each and hold
// response times by the due time, with two significant figures. Values are
// nanoseconds, maxima milliseconds.
func (r Recording) WriteHDRLog(w io.Writer) error {
	if err := r.hdrLog(w); err != nil {
		return fmt.Errorf("measure: HDR log of phase %q: %w", r.Name, err)
	}
	return nil
}

func (r Recording) hdrLog(w io.Writer) error {
	log := hdr.NewHistogramLogWriter(w)
	var start int64 // milliseconds since 1970; 0: unknown
	if !r.Start.IsZero() {
		start = r.Start.UnixMilli()
	}
	base := start - start%1000 // the log's header has whole seconds only
	log.SetBaseTime(base)
	for _, err := range []error{
		log.OutputComment(fmt.Sprintf("[phase %q, response times from the due time, in nanoseconds]", r.Name)),
		log.OutputLogFormatVersion(),
		log.OutputBaseTime(base),
		log.OutputStartTime(base),
		log.OutputLegend(),
	} {
		if err != nil {
			return err
		}
	}
	line := func(tag string, h Histogram, from, to time.Duration) error {
		if h.Count() == 0 {
			return nil
		}
		b := h.open().Clone() // the tag and the times are the line's, not the histogram's
		b.SetTag(tag)
		b.SetStartTimeMs(start + from.Milliseconds())
		b.SetEndTimeMs(start + to.Milliseconds())
		return log.OutputIntervalPackedHistogram(b)
	}
	for _, c := range classes {
		if err := line("response."+string(c), r.Response[c], 0, r.Duration); err != nil {
			return err
		}
		if err := line("service."+string(c), r.Service[c], 0, r.Duration); err != nil {
			return err
		}
	}
	if err := line("lag", r.Lag, 0, r.Duration); err != nil {
		return err
	}
	for _, s := range r.Series {
		from := r.Begins(s)
		for _, c := range classes {
			if err := line("interval."+string(c), s.Response[c], from, from+r.Width); err != nil {
				return err
			}
		}
	}
	return nil
}

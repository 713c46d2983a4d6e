package generate

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// rawWriter writes Vegeta's results with Vegeta's encoders. It keeps the first
// error.
type rawWriter struct {
	encoders []vegeta.Encoder
	err      error
}

func newRawWriter(opts Options) (w rawWriter) {
	if opts.Raw != nil {
		w.encoders = append(w.encoders, vegeta.NewEncoder(opts.Raw))
	}
	if opts.RawLines != nil {
		w.encoders = append(w.encoders, vegeta.NewJSONEncoder(opts.RawLines))
	}
	return w
}

// attackName names a phase in the results. Vegeta's plot needs the hits of an
// attack to be numbered 0, 1, 2, …, so each shard is an attack of its own.
func (p Phase) attackName() string {
	if p.Schedule.Of <= 1 {
		return p.Name
	}
	return fmt.Sprintf("%s shard %d/%d", p.Name, p.Schedule.Index, p.Schedule.Of)
}

// add writes the result of the hit in a phase that began at start. Timestamp and
// latency count from the due time: Vegeta's own hide the time that a late request
// waited. BytesIn is what was read, since Vegeta keeps no bodies. Errors and headers
// are cut down to what cannot hold a secret.
func (w *rawWriter) add(result *vegeta.Result, h *hit, start time.Time) {
	r := *result
	r.Timestamp, r.Latency, r.BytesIn = start.Add(h.Due), h.Response(), uint64(h.Bytes)
	r.Code, r.Headers = uint16(h.Status), http.Header{} // no code of Vegeta's if a redirect leads nowhere
	for name, values := range h.header {                // others, such as cookies, may hold secrets
		if name == "Content-Type" || name == "Retry-After" || strings.HasPrefix(name, "Ratelimit") || strings.HasPrefix(name, "X-Ratelimit") {
			r.Headers[name] = values
		}
	}
	switch {
	case h.Failure != "":
		r.Code, r.Error = 0, h.Failure // Vegeta counts every code below 400 as success
	case r.Error != "":
		r.Error = strings.TrimSpace(strconv.Itoa(h.Status) + " " + http.StatusText(h.Status))
	}
	for _, encode := range w.encoders {
		if err := encode(&r); err != nil && w.err == nil {
			w.err = fmt.Errorf("generate: cannot write the raw results: %w", err)
		}
	}
}

package generate

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// rawWriter writes outcomes as Vegeta's results. The first error ends it.
type rawWriter struct {
	encode vegeta.Encoder
	err    error
}

// attackName names a phase in the results. Vegeta's plot wants the numbers of an
// attack's hits to be 0, 1, 2, …, so that each shard is an attack of its own.
func attackName(p Phase) string {
	if p.Schedule.Of <= 1 {
		return p.Name
	}
	return fmt.Sprintf("%s shard %d/%d", p.Name, p.Schedule.Index, p.Schedule.Of)
}

// add writes one outcome of the phase that began at start.
func (w *rawWriter) add(attack, base string, start time.Time, o outcome) {
	if w.err != nil {
		return
	}
	result := vegeta.Result{
		Attack:    attack,
		Seq:       o.hit,
		Code:      uint16(o.Status),
		Timestamp: start.Add(o.Due),
		Latency:   o.Response(),
		BytesOut:  uint64(len(o.asked.Body)),
		BytesIn:   uint64(o.Bytes),
		Method:    methodOf(o.asked),
		URL:       base + o.asked.Path,
		Headers:   shownHeaders(o.header),
	}
	switch {
	case o.Failure != "":
		// Vegeta takes a code below 400 for success, whatever the error says.
		result.Code, result.Error = 0, o.Failure
	case o.Status < 200 || o.Status >= 400:
		result.Error = strings.TrimSpace(strconv.Itoa(o.Status) + " " + http.StatusText(o.Status))
	}
	if err := w.encode(&result); err != nil {
		w.err = fmt.Errorf("generate: the raw results could not be written: %w", err)
	}
}

func methodOf(q Request) string {
	if q.Method == "" {
		return http.MethodGet
	}
	return q.Method
}

// shownHeaders are the headers of an answer that say something about load. No
// other goes into a file: cookies and the like are nobody's business.
func shownHeaders(h http.Header) http.Header {
	shown := http.Header{}
	for name, values := range h {
		if name == "Content-Type" || name == "Retry-After" || strings.HasPrefix(name, "Ratelimit") || strings.HasPrefix(name, "X-Ratelimit") {
			shown[name] = values
		}
	}
	return shown
}

package faults

import (
	"net/http"
	"strings"
)

// boundQuirks refuse requests for their size. No request of the suites is that long.
func boundQuirks() []Quirk {
	refusing := func(id, touches, doc string, status int, tooLong func(Request) bool) Quirk {
		return Quirk{ID: "bounds/" + id, Allowed: "not mentioned: the size of a request", Doc: doc, Touches: []string{"sizes", touches},
			Apply: alike(func(next Handler) Handler {
				return func(r Request) (Response, error) {
					if tooLong(r) {
						return refusal(status), nil
					}
					return next(r)
				}
			})}
	}
	return []Quirk{
		refusing("long-query", "long queries", "refuses queries of more than 1 kB with 414", http.StatusRequestURITooLong,
			func(r Request) bool { return len(r.Query.Encode()) > 1<<10 }),
		refusing("long-header", "long headers", "refuses header lines of more than 2 kB with 431", http.StatusRequestHeaderFieldsTooLarge,
			func(r Request) bool {
				for _, values := range r.Header {
					if len(strings.Join(values, ",")) > 2<<10 {
						return true
					}
				}
				return false
			}),
		refusing("long-body", "create", "refuses bodies of more than 16 kB with 413", http.StatusRequestEntityTooLarge,
			func(r Request) bool { return len(r.Body) > 16<<10 }),
	}
}

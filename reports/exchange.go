package reports

// Exchange is a request and its response, without secrets. The beginning of the
// response's body is Violation.Body.
type Exchange struct {
	Request     Head   `json:"request"`
	RequestBody string `json:"request_body,omitempty"` // its beginning
	Response    Head   `json:"response"`
}

// Head is the first line and the headers of a message.
type Head struct {
	Line    string   `json:"line"`              // "GET /api/v2/campaigns?limit=1" or "200 OK"
	Headers []string `json:"headers,omitempty"` // "Name: value", sorted
	Bytes   int      `json:"bytes,omitempty"`   // of the whole body
}

// Requests counts the requests of one operation for which the specification allows the
// same responses.
type Requests struct {
	Operation string `json:"operation"`
	// Allowed are the responses that the specification allows: "200" for a valid request,
	// "a refusal (4xx)" for an invalid one.
	Allowed  string `json:"allowed"`
	Sent     int    `json:"sent"`
	Accepted int    `json:"accepted"` // responses with a 2xx
}

// textBytes returns the length of the texts that a target can influence.
func (e *Exchange) textBytes() int {
	if e == nil {
		return 0
	}
	n := len(e.Request.Line) + len(e.RequestBody) + len(e.Response.Line)
	for _, headers := range [][]string{e.Request.Headers, e.Response.Headers} {
		for _, header := range headers {
			n += len(header)
		}
	}
	return n
}

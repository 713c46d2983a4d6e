package evidence

// This file has the types of HTTP Archive files (HAR 1.2), and reads them entry by entry.
//
// What the format does not know stands in members whose names begin with an underscore, as
// the format demands. Other programs ignore them.

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Entry is a request and its response.
type Entry struct {
	Started  time.Time `json:"startedDateTime"`
	Time     Millis    `json:"time"`
	Request  Request   `json:"request"`
	Response Response  `json:"response"`
	Cache    struct{}  `json:"cache"`
	Timings  Timings   `json:"timings"`

	ID     int    `json:"_id,omitempty"`    // from 1, in the order in which the responses came
	Source string `json:"_spec,omitempty"`  // the spec, or the shared read, that sent the request
	Place  int    `json:"_place,omitempty"` // from 1, among the requests of the source
	Key    string `json:"_key,omitempty"`   // the profile's name of the key
	Note   *Note  `json:"_exchange,omitempty"`
}

// Note is what else a client saw of an exchange.
type Note struct {
	Error     string `json:"error,omitempty"` // in words; empty for a whole response
	Kind      string `json:"kind,omitempty"`  // of the error
	Truncated bool   `json:"truncated,omitempty"`
	Reused    bool   `json:"reused,omitempty"` // the connection had carried other requests
	AfterBody string `json:"after_body,omitempty"`
	Stale     bool   `json:"stale,omitempty"`
	Malformed bool   `json:"malformed,omitempty"`
	WaitedOut bool   `json:"waited_out,omitempty"` // a 429, after which the request went out again
	Throttled int    `json:"throttled,omitempty"`  // 429 responses before this one
	Unsent    bool   `json:"unsent,omitempty"`
}

// Request is what was sent.
type Request struct {
	Method      string    `json:"method"`
	URL         string    `json:"url"`
	HTTPVersion string    `json:"httpVersion"`
	Cookies     List      `json:"cookies"`
	Headers     List      `json:"headers"`
	Query       List      `json:"queryString"`
	PostData    *PostData `json:"postData,omitempty"`
	HeadersSize int       `json:"headersSize"`
	BodySize    int       `json:"bodySize"`
}

// Response is what came back. Its status is 0 if nothing did.
type Response struct {
	Status      int     `json:"status"`
	StatusText  string  `json:"statusText"`
	HTTPVersion string  `json:"httpVersion"`
	Cookies     List    `json:"cookies"`
	Headers     List    `json:"headers"`
	Content     Content `json:"content"`
	RedirectURL string  `json:"redirectURL"`
	HeadersSize int     `json:"headersSize"`
	BodySize    int     `json:"bodySize"`
}

// Pair is a header, a cookie or a query parameter.
type Pair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// List is a list of them.
type List []Pair

// maxPairs bounds a list of pairs: an empty one takes 2 bytes in a file, and 32 in memory.
const maxPairs = 100_000

// UnmarshalJSON reads a list.
func (p *List) UnmarshalJSON(text []byte) error {
	if bytes.Count(text, []byte(",")) >= maxPairs { // those in values count as well
		return fmt.Errorf("a list of more than %d pairs", maxPairs)
	}
	return json.Unmarshal(text, (*[]Pair)(p))
}

// PostData is the body of a request.
type PostData struct {
	MimeType string `json:"mimeType"`
	Text     string `json:"text"`
	Params   List   `json:"params,omitempty"`
}

// Content is the body of a response.
type Content struct {
	Size     int     `json:"size"`
	MimeType string  `json:"mimeType"`
	Text     *string `json:"text,omitempty"` // nil if the recording does not hold it
	Encoding string  `json:"encoding,omitempty"`
}

// Timings say where the time went. Only the whole is known.
type Timings struct {
	Send    Millis `json:"send"`
	Wait    Millis `json:"wait"`
	Receive Millis `json:"receive"`
}

// Millis is a time in milliseconds. It keeps nanoseconds.
type Millis time.Duration

// MarshalJSON writes milliseconds.
func (m Millis) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "%d.%06d", m/1e6, m%1e6), nil
}

// UnmarshalJSON reads milliseconds. Some programs write -1 or null for an unknown time.
func (m *Millis) UnmarshalJSON(text []byte) error {
	ms, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		*m = 0
		return nil //nolint:nilerr // a time that cannot be read is unknown
	}
	*m = Millis(ms*1e6 + 0.5)
	return nil
}

// Body returns the body of the content, and whether the recording holds it.
func (c Content) Body() ([]byte, bool, error) {
	switch {
	case c.Text == nil:
		return nil, false, nil
	case strings.EqualFold(c.Encoding, "base64"):
		body, err := base64.StdEncoding.DecodeString(*c.Text)
		return body, true, err
	}
	return []byte(*c.Text), true, nil
}

// ContentOf returns the content of a body. What is no UTF-8 is written as base64.
func ContentOf(body []byte, mimeType string) Content {
	text, encoding := string(body), ""
	if !utf8.Valid(body) {
		text, encoding = base64.StdEncoding.EncodeToString(body), "base64"
	}
	return Content{Size: len(body), MimeType: mimeType, Text: &text, Encoding: encoding}
}

// Pairs returns headers, or other values, sorted by their names.
func Pairs(of map[string][]string) []Pair {
	pairs := []Pair{}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		for _, value := range of[name] {
			pairs = append(pairs, Pair{name, value})
		}
	}
	return pairs
}

// Header returns the pairs as headers. Pseudo-headers of HTTP/2 are left out.
func Header(pairs []Pair) http.Header {
	h := http.Header{}
	for _, p := range pairs {
		if !strings.HasPrefix(p.Name, ":") {
			h.Add(p.Name, p.Value)
		}
	}
	return h
}

// queryOf returns the parameters of an address.
func queryOf(address *url.URL) []Pair {
	values, _ := url.ParseQuery(address.RawQuery) // what cannot be read stands in the address
	return Pairs(values)
}

// MimeType returns the media type of the headers; empty without one.
func MimeType(h http.Header) string {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		return h.Get("Content-Type")
	}
	return kind
}

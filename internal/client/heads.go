package client

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"outreach.example/conformance/internal/redact"
)

// Head is the first line and the headers of a message, without secrets. A header is
// "Name: value"; they are sorted.
type Head struct {
	Line    string
	Headers []string
	Bytes   int // of the whole body
}

// Bounds of the text of a head.
const (
	mostHeaders = 40
	mostHeader  = 1000 // bytes
)

// RequestHead returns the head of the request. The key is its variable (Key.Env).
func (e Exchange) RequestHead() Head {
	r := e.Request
	target := redact.Process.Text(r.Path)
	if len(r.Query) > 0 {
		target += "?" + redact.Process.Text(encodeQuery(r.Query))
	}
	header := http.Header{"User-Agent": {cmp.Or(e.agent, UserAgent)}}
	if len(r.Body) > 0 {
		header.Set("Content-Type", "application/json")
	}
	for name, values := range r.Header {
		header[http.CanonicalHeaderKey(name)] = values
	}
	lines := headers(header)
	if value, ok := r.authorization(); ok && header.Get("Authorization") == "" {
		shown := redact.Process.Text(value)
		if r.Key.Token != "" && value == "Bearer "+r.Key.Token {
			shown = "Bearer $" + r.Key.Env() // whatever the key looks like
		}
		lines = append([]string{shorten("Authorization: " + shown)}, lines...)
	}
	return Head{shorten(r.method() + " " + target), lines, len(r.Body)}
}

// ResponseHead returns the head of the response, or why there is none.
func (e Exchange) ResponseHead() Head {
	line := "no response"
	switch {
	case e.Status != 0:
		line = strings.TrimSpace(fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status)))
	case e.Err != nil:
		line += ": " + e.Err.Error()
	}
	return Head{shorten(line), headers(e.Header), len(e.Body)}
}

// RequestExcerpt is Excerpt for the body of the request.
func (e Exchange) RequestExcerpt(most int) string {
	return Exchange{Body: e.Request.Body}.Excerpt(most)
}

// headers returns the first headers by name, without secrets.
func headers(header http.Header) []string {
	var lines []string
	for name, values := range header {
		for _, value := range values {
			lines = append(lines, shorten(redact.Process.Text(name+": "+value)))
		}
	}
	slices.Sort(lines)
	return lines[:min(len(lines), mostHeaders-1)]
}

// shorten returns the beginning of a line, as valid UTF-8.
func shorten(line string) string {
	if len(line) > mostHeader {
		line = line[:mostHeader] + "…"
	}
	return strings.ToValidUTF8(line, "\ufffd")
}

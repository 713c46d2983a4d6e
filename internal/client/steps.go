package client

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"outreach.example/conformance/internal/redact"
)

// Step is one of several requests that belong together.
type Step struct {
	Exchange
	Made  string   // the id of what the request created; "" for nothing
	Limit *Request // drives the key to its limit, which refused the request; nil if none did
}

// Steps returns a command for each step, as Curl does for one request. If a later step
// names an id that an earlier one created, the line of the earlier one puts the id into a
// variable, for which it needs jq. The line of a step that the limit refused drives the key
// to its limit first. The step after it waits until the limit's period has passed.
func Steps(steps []Step) []string {
	variables := map[string]string{}
	lines := make([]string, len(steps))
	for i, step := range steps {
		step.variables = variables
		line := step.Curl()
		switch {
		case step.Limit != nil:
			line = step.CurlAtLimit(*step.Limit, 0)
		case i > 0 && steps[i-1].Limit != nil:
			line = fmt.Sprintf("sleep %.0f; %s", DefaultMaxThrottle.Seconds(), line)
		}
		if step.Made != "" && step.whole() && variables[step.Made] == "" && named(step.Made, steps[i+1:]) {
			name := "id"
			if n := len(variables); n > 0 {
				name += strconv.Itoa(n + 1)
			}
			variables[step.Made] = name
			line = fmt.Sprintf("%s=$(%s | jq -r .id)", name, strings.Replace(line, "curl -i", "curl -sS", 1))
		}
		lines[i] = line
	}
	return lines
}

// named reports whether one of the steps names the id.
func named(id string, steps []Step) bool {
	for _, s := range steps {
		if s.Names(id) {
			return true
		}
	}
	return false
}

// Names reports whether path, query or body of the request hold the text.
func (e Exchange) Names(text string) bool {
	if strings.Contains(e.Request.Path, text) || strings.Contains(string(e.Request.Body), text) {
		return true
	}
	for _, values := range e.Request.Query {
		for _, value := range values {
			if strings.Contains(value, text) {
				return true
			}
		}
	}
	return false
}

// Changes reports whether the request is meant to change something.
func (e Exchange) Changes() bool {
	switch e.Request.method() {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return false
	}
	return true
}

// withVariables replaces the ids in literal text by the variables that hold them.
func withVariables(pieces []redact.Piece, variables map[string]string) []redact.Piece {
	for id, name := range variables {
		var out []redact.Piece
		for _, p := range pieces {
			if p.Env != "" {
				out = append(out, p)
				continue
			}
			for i, text := range strings.Split(p.Text, id) {
				if i > 0 {
					out = append(out, redact.Piece{Env: name})
				}
				if text != "" {
					out = append(out, redact.Piece{Text: text})
				}
			}
		}
		pieces = out
	}
	return pieces
}

package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
)

// parrot repeats the key of a request in the server's answer and in its own
// output, in forms and behind paddings that change from answer to answer.
type parrot struct{ answers atomic.Int64 }

func (p *parrot) repeat(answer *http.Response) error {
	sent := answer.Request.Header.Get("Authorization")
	_, token, _ := strings.Cut(sent, " ")
	if token == "" {
		return nil
	}
	n := int(p.answers.Add(1))
	forms := []string{sent, token, url.QueryEscape("k=" + sent), url.QueryEscape(token), base64.StdEncoding.EncodeToString([]byte("key:" + token)),
		base64.RawURLEncoding.EncodeToString([]byte(token)), base64.StdEncoding.EncodeToString([]byte(sent))}
	said := strings.Repeat("x", n%150) + " " + forms[n%len(forms)]
	fmt.Println("was asked with", said)
	answer.Header.Set("X-Asked-With", said)
	if n%5 == 0 {
		answer.Header.Set("Content-Type", "text/plain; key=\""+said+"\"")
	}
	if n%7 == 0 {
		answer.StatusCode = http.StatusTeapot
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	var value any
	if json.Unmarshal(body, &value) == nil {
		if body, err = json.Marshal(put(value, said, n)); err != nil {
			return err
		}
	}
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	answer.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return nil
}

// put puts what is said into one kind of place of a body, which n names: all
// texts, ids and cursors, names of members, elements.
func put(value any, said string, n int) any {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			if _, isText := member.(string); isText && (n%4 == 0 || n%4 == 1 && (name == "id" || name == "next_starting_after") || name == "message") {
				value[name] = said
			} else {
				value[name] = put(member, said, n)
			}
		}
		if n%4 == 2 {
			value[said] = []any{said}
		}
	case []any:
		for i, item := range value {
			value[i] = put(item, said, n)
		}
		if n%4 == 3 {
			return append(value, said)
		}
	}
	return value
}

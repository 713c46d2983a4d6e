package client

import (
	"net/http"
	"slices"
	"testing"
)

// A line puts the id of what it creates into a variable where a later request names it:
// the server gives another id when the line is repeated.
func TestSteps(t *testing.T) {
	const first, second = "0195a1c2-7f00-7c3d-8a11-2b4e5f6a7b8c", "0195a1c2-7f00-7c3d-8a11-2b4e5f6a7b8d"
	main := Key{Name: "main", Token: "0123456789abcdef-steps"}
	step := func(made, method, path, body string) Step {
		return Step{Exchange: Exchange{Request: Request{Method: method, Path: path, Body: []byte(body), Key: main}}, Made: made}
	}
	lines := Steps([]Step{
		step(first, http.MethodPost, "/tests", `{"name":"a"}`),
		step(second, http.MethodPost, "/tests", `{"name":"b","after":"`+first+`"}`),
		step("unused", http.MethodPost, "/tests", `{"name":"c"}`),
		step("", http.MethodDelete, "/tests/"+second, ""),
		step("", http.MethodGet, "/tests/"+first, ""),
	})
	const curl = `-H "Authorization: Bearer $OUTREACH_KEY_MAIN"`
	want := []string{
		`id=$(curl -sS -X POST ` + curl + ` -H 'Content-Type: application/json' --data-raw '{"name":"a"}' "$OUTREACH_URL/tests" | jq -r .id)`,
		`id2=$(curl -sS -X POST ` + curl + ` -H 'Content-Type: application/json' --data-raw '{"name":"b","after":"'"$id"'"}' "$OUTREACH_URL/tests" | jq -r .id)`,
		`curl -i -X POST ` + curl + ` -H 'Content-Type: application/json' --data-raw '{"name":"c"}' "$OUTREACH_URL/tests"`,
		`curl -i -X DELETE ` + curl + ` "$OUTREACH_URL/tests/$id2"`,
		`curl -i ` + curl + ` "$OUTREACH_URL/tests/$id"`,
	}
	if !slices.Equal(lines, want) {
		t.Errorf("lines:\n%q\nwant:\n%q", lines, want)
	}
}

// A request that the limit refused needs the limit again. What comes after it does not.
func TestStepsBeyondTheLimit(t *testing.T) {
	limited := Step{Exchange: Exchange{Request: Request{Method: http.MethodDelete, Path: "/x"}, Status: 429}, Limit: &Request{Path: "/list"}}
	get := Step{Exchange: Exchange{Request: Request{Path: "/x"}}}
	want := []string{
		limited.Exchange.CurlAtLimit(*limited.Limit, 0),
		limited.Exchange.CurlAtLimit(*limited.Limit, 0),
		"sleep 120; " + get.Curl(),
		get.Curl(),
	}
	if lines := Steps([]Step{limited, limited, get, get}); !slices.Equal(lines, want) {
		t.Errorf("lines:\n%q\nwant:\n%q", lines, want)
	}
}

// A comment in place of a body would hide the end of the line that puts the id into a variable.
func TestStepsWithALongBody(t *testing.T) {
	create := Step{Exchange: Exchange{Request: Request{Method: http.MethodPost, Path: "/x", Body: make([]byte, maxCurlBody+1)}}, Made: "made"}
	get := Step{Exchange: Exchange{Request: Request{Path: "/x/made"}}}
	if lines, want := Steps([]Step{create, get}), []string{create.Curl(), get.Curl()}; !slices.Equal(lines, want) {
		t.Errorf("lines:\n%q\nwant:\n%q", lines, want)
	}
}

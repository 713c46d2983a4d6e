package faults

import (
	"net/http"
	"testing"

	"outreach.example/conformance/spec"
)

// TestSpellings: each spelling changes what it says, and no value.
func TestSpellings(t *testing.T) {
	const body = `{"a":1,"b/c":[-2.5,3e4,0,"","ü/😀\u0000\"",null,true,{}]}`
	spelled := map[string]string{
		"wire/key-order":     `{"b/c":[-2.5,3e4,0,"","ü/😀\u0000\"",null,true,{}],"a":1}`,
		"wire/escapes":       `{"\u0061":1,"\u0062\/c":[-2.5,3e4,0,"","\u00fc\/\ud83d\ude00\u0000\u0022",null,true,{}]}`,
		"wire/decimals":      `{"a":1.0,"b/c":[-2.5,3e4,0.0,"","ü/😀\u0000\"",null,true,{}]}`,
		"wire/exponents":     `{"a":1e0,"b/c":[-2.5e0,3e4,0e0,"","ü/😀\u0000\"",null,true,{}]}`,
		"wire/negative-zero": `{"a":1,"b/c":[-2.5,3e4,-0,"","ü/😀\u0000\"",null,true,{}]}`,
	}
	for _, q := range wireQuirks() {
		want, ok := spelled[q.ID]
		if !ok {
			continue
		}
		delete(spelled, q.ID)
		answer, _ := q.Apply(&Target{})(func(Request) (Response, error) {
			return Response{http.StatusBadRequest, http.Header{}, []byte(body)}, nil
		})(Request{Operation: spec.ListMembers})
		if string(answer.Body) != want {
			t.Errorf("%s writes %s, not %s", q.ID, answer.Body, want)
		}
	}
	if len(spelled) > 0 {
		t.Errorf("no quirks for %v", spelled)
	}
}

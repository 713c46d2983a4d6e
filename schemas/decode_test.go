package schemas

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestDecodeRefuses(t *testing.T) {
	cases := []struct {
		body, reason string
		offset       int64
	}{
		{``, "end of the body", 0},
		{"\ufeff{}", "begins with a byte order mark", 0},
		{`{} x`, "trailing bytes", 3},
		{"{\"a\":\"\xff\"}", "invalid UTF-8", 6},
		{"\"é\xc3\"", "invalid UTF-8", 3},
		{"\"a\nb\"", "control character", 2},
		{`"a\qb"`, "unknown escape", 3},
		{`"abc`, "in a string", 4},
		{`{"a":1`, "a comma or }", 6},
		{`[1,]`, "want a JSON value", 3},
		{`{"a":1,}`, "a key in quotes", 7},
		{`{"a" 1}`, "a colon", 5},
		{`{a:1}`, "a key in quotes", 1},
		{`nul`, "want a JSON value", 0},
		{`01`, "trailing bytes", 1},
		{`1e+`, "want a digit", 3},
		{`+1`, "want a JSON value", 0},
		{strings.Repeat("[", 257) + strings.Repeat("]", 257), "deeper than 256", 256},
	}
	for _, c := range cases {
		value, err := Decode([]byte(c.body))
		var syntax *syntaxError
		if !errors.As(err, &syntax) || syntax.Offset != c.offset || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%q: %v, %v; want %q at byte %d", c.body, value, err, c.reason, c.offset)
		}
	}
}

func TestDecodeAccepts(t *testing.T) {
	cases := map[string]any{
		` {"a" : [ 1 , -0.5e+3, true, false, null ] } `: map[string]any{"a": []any{json.Number("1"), json.Number("-0.5e+3"), true, false, nil}},
		`[-0, -0.0, -0e5, 0e-1, -0.01]`:                 []any{json.Number("0"), json.Number("0"), json.Number("0"), json.Number("0"), json.Number("-0.01")},
		`"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"`:          "\"\\/\b\f\n\r\té😀",
		`"\ud83d"`:                                      "\ufffd", // grammatical, though it is no character
		`"\ud83dA"`:                                     "\ufffdA",
		`{"":{},"b":[]}`:                                map[string]any{"": map[string]any{}, "b": []any{}},
		`{"a":1,"b":2,"\u0061":3}`:                      map[string]any{"a": json.Number("3"), "b": json.Number("2")},
		`0`:                                             json.Number("0"),
		`1.0`:                                           json.Number("1.0"),
		`[0e99999999999999999999, 1e-300]`:              []any{json.Number("0"), json.Number("1e-300")},
		strings.Repeat("[", 64) + strings.Repeat("]", 64): nested(64),
	}
	for body, want := range cases {
		if got, err := Decode([]byte(body)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v", body, got, err)
		}
	}
}

// numbersBeyondBounds are numbers that the harness does not read.
var numbersBeyondBounds = []string{"1e400", "-1E+309", "1e1000000", "1e99999999999999999999", "1e-5000000", strings.Repeat("1", 101), "0." + strings.Repeat("3", 1000)}

// A number beyond the bounds does not hide the rest, and agrees with every number.
func TestDecodeNumbersBeyondBounds(t *testing.T) {
	for _, number := range numbersBeyondBounds {
		got, err := Decode([]byte(`{"id":"a","status":` + number + `,"name":"b"}`))
		if err != nil || !reflect.DeepEqual(got, map[string]any{"id": "a", "status": Unread, "name": "b"}) {
			t.Errorf("%.10s…: %v, %v", number, got, err)
		}
		if !Agree(got, map[string]any{"status": json.Number("3")}) || Agree(got, map[string]any{"status": "3"}) {
			t.Errorf("%.10s… does not agree with numbers alone", number)
		}
	}
}

func nested(depth int) any {
	var value any = []any{}
	for range depth - 1 {
		value = []any{value}
	}
	return value
}

// decodeLikeStandardLibrary holds Decode to encoding/json: what it accepts,
// encoding/json accepts with the same result.
func decodeLikeStandardLibrary(t interface{ Fatalf(string, ...any) }, body []byte) {
	got, err := Decode(body)
	if err != nil {
		var syntax *syntaxError
		if !errors.As(err, &syntax) || syntax.Offset < 0 || syntax.Offset > int64(len(body)) {
			t.Fatalf("%q: error %v", body, err)
		}
		return
	}
	standard := json.NewDecoder(bytes.NewReader(body))
	standard.UseNumber()
	var want any
	if err := standard.Decode(&want); err != nil || !json.Valid(body) {
		t.Fatalf("%q: accepted, encoding/json says %v", body, err)
	}
	if !says(want, got, false) {
		t.Fatalf("%q: %#v, encoding/json has %#v", body, got, want)
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.5e3,"x\u00e9\ud83d\ude00"],"b":null}`, `[[[]]]`, `{"a":1,"a":2}`, "\"\xff\"", `1e999`, `{`, `"\ud83d\ud83d"`, `[1.50,-0,1E+2]`, `{"a" : { "b":[ true , false] } }`, "{\"\\u0000\":\"\\/\"}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) { decodeLikeStandardLibrary(t, body) })
}

// Long texts and names are shortened. Texts that differ only at the end still differ, and
// equal texts stay equal, however they are escaped.
func TestLongTextsAreShortened(t *testing.T) {
	long := strings.Repeat("x", maxText)
	decoded := func(body string) any { return must(Decode([]byte(body))) }
	if decoded(`"`+long+`"`) != long {
		t.Error("a text of the longest length is changed")
	}
	first, second, escaped := decoded(`"`+long+`1"`), decoded(`"`+long+`2"`), decoded(`"`+long+`\u0031"`)
	if first == second || first != escaped {
		t.Errorf("%.20s, %.20s and %.20s", first, second, escaped)
	}
	if text := first.(string); len(text) > maxText/2 || !IsShortened(text) || IsShortened(long) {
		t.Errorf("%d bytes, shortened: %t", len(text), IsShortened(text))
	}
	for name := range decoded(`{"` + long + `1":0}`).(map[string]any) {
		if !IsShortened(name) {
			t.Errorf("a name of %d bytes", len(name))
		}
	}
}

// The estimate of the decoder and that of Memory agree, so that what is kept of a body
// never takes more than was decoded.
func TestMemoryOfADecodedBody(t *testing.T) {
	body := []byte(`{"items":[{"a":"text","b":[1,2,{"c":null}],"d":{}},[]],"x":true}`)
	d := decoder{data: body}
	value := must(d.document())
	if kept := Memory(value); kept > d.size+8*objectMemory || kept < d.size/2 {
		t.Errorf("%d bytes decoded, %d kept", d.size, kept)
	}
}

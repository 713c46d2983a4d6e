package schemas

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDecodeRefuses(t *testing.T) {
	cases := []struct {
		name, body, reason string
		offset             int64
	}{
		{"nothing", ``, "end of the body", 0},
		{"white space", ` `, "end of the body", 1},
		{"a byte order mark", "\ufeff{}", "begins with a byte order mark", 0},
		{"trailing bytes", `{} x`, "trailing bytes", 3},
		{"two values", `{}{}`, "trailing bytes", 2},
		{"invalid UTF-8", "{\"a\":\"\xff\"}", "invalid UTF-8", 6},
		{"a truncated character", "\"é\xc3\"", "invalid UTF-8", 3},
		{"a surrogate in UTF-8", "\"\xed\xa0\x80\"", "invalid UTF-8", 1},
		{"a control character", "\"a\nb\"", "control character", 2},
		{"an unknown escape", `"a\qb"`, "unknown escape", 2},
		{"half an escape", `"\u12"`, "unknown escape", 1},
		{"an open string", `"abc`, "in a string", 4},
		{"an open object", `{"a":1`, "a comma or }", 6},
		{"an open array", `[1`, "a comma or ]", 2},
		{"a trailing comma", `[1,]`, "want a JSON value", 3},
		{"a trailing comma in an object", `{"a":1,}`, "a key in quotes", 7},
		{"no colon", `{"a" 1}`, "a colon", 5},
		{"a bare key", `{a:1}`, "a key in quotes", 1},
		{"a word", `nul`, "want a JSON value", 0},
		{"a leading zero", `01`, "trailing bytes", 1},
		{"a bare point", `1.`, "want a digit", 2},
		{"a bare exponent", `1e+`, "want a digit", 3},
		{"a bare sign", `-`, "want a digit", 1},
		{"a plus sign", `+1`, "want a JSON value", 0},
		{"not a number", `NaN`, "want a JSON value", 0},
		{"depth 257", strings.Repeat("[", 257) + strings.Repeat("]", 257), "deeper than 256", 256},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			value, err := Decode([]byte(c.body))
			var syntax *SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("decoded to %v, error %v", value, err)
			}
			if syntax.Offset != c.offset || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("got %q, want %q at byte %d", err, c.reason, c.offset)
			}
		})
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
		var syntax *SyntaxError
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
	for _, seed := range []string{`{"a":[1,2.5e3,"x\u00e9\ud83d\ude00"],"b":null}`, `[[[]]]`, `{"a":1,"a":2}`, "\"\xff\"", `1e999`, `{`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) { decodeLikeStandardLibrary(t, body) })
}

func TestDecodeReadsWhatIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := anyValue(4).Draw(t, "value")
		body, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(body)
		if err != nil || !reflect.DeepEqual(got, value) {
			t.Fatalf("%s: %#v, %v", body, got, err)
		}
		decodeLikeStandardLibrary(t, body)
		damaged := append([]byte(nil), body...)
		damaged[rapid.IntRange(0, len(damaged)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		decodeLikeStandardLibrary(t, damaged)
	})
}

// anyValue draws decoded JSON values, with a taste for those that matter here.
func anyValue(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		top := 8
		if depth == 0 {
			top = 6
		}
		switch rapid.IntRange(0, top).Draw(t, "kind") {
		case 0:
			return nil
		case 1:
			return rapid.Bool().Draw(t, "bool")
		case 2, 3:
			return json.Number(rapid.SampledFrom([]string{"0", "1", "2", "3", "-1", "1.0", "0.5", "-99", "1e2", "401"}).Draw(t, "number"))
		case 4:
			return rapid.StringMatching(`[ -~é😀/~]{0,12}`).Draw(t, "string")
		case 5, 6:
			return rapid.SampledFrom([]string{"", "email", "days", "other", "success", "positive", "09:30", "2026-03-01", "2026-03-01T09:30:00.000Z",
				"01890a5d-ac96-774b-bcce-b302099a8057", "01890a5d-ac96-474b-bcce-b302099a8057", "Europe/Helsinki", "+358401234567"}).Draw(t, "word")
		case 7:
			list := []any{}
			for range rapid.IntRange(0, 3).Draw(t, "items") {
				list = append(list, anyValue(depth-1).Draw(t, "item"))
			}
			return list
		default:
			object := map[string]any{}
			for range rapid.IntRange(0, 3).Draw(t, "keys") {
				key := rapid.SampledFrom([]string{"1", "7", "id", "from", "steps", "name", "a/b", "~", "odd \x00 key", ""}).Draw(t, "key")
				object[key] = anyValue(depth-1).Draw(t, "value")
			}
			return object
		}
	})
}

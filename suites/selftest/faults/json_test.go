package faults

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"outreach.example/conformance/spec"
)

// FuzzJSON: bodies are decoded and encoded as encoding/json does it.
func FuzzJSON(f *testing.F) {
	for _, body := range []string{
		`{"b":[1,-2,0,1.5,1e3,"x",true,false,null],"a":{"é":"ü\"\\\n"},"a":{}}`, `[]`, `{}`, `"a"`, `1`, `-0`, `01`, `-`, `[1,]`, `{"a":1,}`, `{"a"}`, `{"a" :1}`, ` [1]`, "[\"\t\"]",
		`[1] trailing`, `{"a":1}}`, `nul`, `truer`, `"open`, `["\ud800"]`, "[\"\xff\"]", `["<&>"]`, `["\u2028"]`, "[\"\u2028\"]", `1x`, `[1x]`, `[01]`, `[-]`, `[1.]`, `{1:2}`, ``,
		strings.Repeat("[", 100) + strings.Repeat("]", 100), "[\"\x7f\"]",
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.UseNumber()
		var want any
		err := decoder.Decode(&want)
		got, ok := decode(body)
		if ok != (err == nil) {
			t.Fatalf("%q: decoded %t, encoding/json: %v", body, ok, err)
		}
		if !ok {
			return
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: %#v, want %#v", body, got, want)
		}
		if encoded, want := encode(got), encodeOther(want); !bytes.Equal(encoded, want) {
			t.Fatalf("%q: %q, want %q", body, encoded, want)
		}
	})
}

// FuzzDecodeAround: rows are found in lists wherever encoding/json finds them.
func FuzzDecodeAround(f *testing.F) {
	for _, body := range []string{
		`{"items":[{"id":"a","t":"}{\""},{"items":[{"b":1}]},2,null,[{}]],"next_starting_after":"x"}`, `[{"a":{}},{"b":[{}]}]`, `{"items":null}`, `{"items":{}}`, `[]`, `[1]`,
		"{ \"items\" : [ {\"a\" :1} ,\n{} ] }", `{"more":[{}],"items":[{}],"items":[{"z":1}]}`, `{"items":[{"a"}]}`, `{"items":[{`, `{"items":[{"a":1}x]}`, `{"a":{"items":[{"a":1}]}}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, op := range []spec.Operation{{Answer: spec.Page}, {Answer: spec.Array}, {Answer: spec.One}} {
			rows := 0
			got, ok := decodeAround(op, body, func(text []byte) (any, bool) {
				rows++
				value, ok := decode(text)
				return json.RawMessage(encode(value)), ok
			})
			want, valid := decode(body)
			if ok != valid {
				t.Fatalf("%q: decoded %t, want %t", body, ok, valid)
			}
			if !ok {
				continue
			}
			if !bytes.Equal(encode(got), encode(want)) {
				t.Fatalf("%q: %q, want %q", body, encode(got), encode(want))
			}
			if objects := len(op.Rows(want)); rows < objects {
				t.Fatalf("%q: %d rows, want %d", body, rows, objects)
			}
		}
	})
}

func BenchmarkJSON(b *testing.B) {
	row := `{"id":"01941f29-7c00-75a5-ad3c-4e22def4fc02","name":"A name of a row","number":12,"tags":["a","b"],"more":{"x":null,"y":true}}`
	body := []byte("[" + strings.Repeat(row+",", 99) + row + "]")
	for b.Loop() {
		value, ok := decode(body)
		if !ok {
			b.Fatal("not decoded")
		}
		encode(value)
	}
}

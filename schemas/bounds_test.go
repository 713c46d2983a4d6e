package schemas

import (
	"errors"
	"strings"
	"testing"

	"outreach.example/conformance/spec"
)

// Long texts and names are shortened. Texts that differ only at the end still differ, and
// equal texts stay equal, however they are escaped.
func TestLongTextsAreShortened(t *testing.T) {
	long := strings.Repeat("x", maxText)
	decoded := func(body string) any {
		value, err := Decode([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
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

// A body whose values take too much memory is not judged: the bound is the harness's.
func TestTooManyValues_long(t *testing.T) {
	v, op := validator(t), spec.MustOperation(spec.ListLeadLists)
	for name, part := range map[string]string{"arrays": "[],", "objects": `{"":0},`, "numbers": "0,", "literals": "null,"} {
		for _, body := range []string{
			`{"items":[` + strings.Repeat(part, maxMemory/32) + `0]}`,
			`{"items":[],"extra":[` + strings.Repeat(part, maxMemory/32) + `0]}`,
		} {
			if _, err := Decode([]byte(body)); !errors.Is(err, ErrTooMuch) {
				t.Errorf("%s: %v", name, err)
			}
			if judged := v.Answer(op, []byte(body)); !errors.Is(judged.Err, ErrTooMuch) || len(judged.Findings) > 0 {
				t.Errorf("%s: %v, %d findings", name, judged.Err, len(judged.Findings))
			}
			if judged := v.Error(404, []byte(body)); !errors.Is(judged.Err, ErrTooMuch) || len(judged.Findings) > 0 {
				t.Errorf("%s in an error: %v, %d findings", name, judged.Err, len(judged.Findings))
			}
		}
	}
}

// The estimate of the decoder and that of Memory agree, so that what is kept of a body
// never takes more than was decoded.
func TestMemoryOfADecodedBody(t *testing.T) {
	body := []byte(`{"items":[{"a":"text","b":[1,2,{"c":null}],"d":{}},[]],"x":true}`)
	d := decoder{data: body}
	value, err := d.document()
	if err != nil {
		t.Fatal(err)
	}
	if kept := Memory(value); kept > d.size+8*objectMemory || kept < d.size/2 {
		t.Errorf("%d bytes decoded, %d kept", d.size, kept)
	}
}

// All findings are counted, and the first of each requirement have their details. Rows
// beyond maxRows are not checked.
func TestFindingsAreBounded(t *testing.T) {
	v, op := validator(t), spec.MustOperation(spec.ListLeadLists)
	judged := v.Answer(op, []byte(`{"items":[`+strings.Repeat(`"no row",`, 3*maxRows)+`0]}`))
	if len(judged.Findings) != maxFindings || judged.More["PAGE-ITEMS-TYPE"] != maxRows-maxFindings {
		t.Errorf("%d findings and %v", len(judged.Findings), judged.More)
	}
}

// Of a long row, only some elements and undocumented members are checked, and all
// documented ones.
func TestExcerptOfALongRow(t *testing.T) {
	v, op := validator(t), spec.MustOperation(spec.GetPlacementTest)
	row := example(t, "InboxPlacementTest")
	extra := map[string]any{}
	for i := range 4 * maxParts {
		extra["a"+strings.Repeat("x", i%200)+string(rune('0'+i%10))] = strings.Repeat("y", 100)
	}
	for name, value := range extra {
		row[name] = value
	}
	row["extra"] = strings.Repeat("z", maxRow)
	if judged := v.Answer(op, mustJSON(t, row)); judged.Err != nil || len(judged.Findings) > 0 {
		t.Errorf("a valid long row: %v, %+v", judged.Err, judged.Findings)
	}
	tags := make([]any, 100*maxParts)
	row["tags"] = tags
	judged := v.Answer(op, mustJSON(t, row))
	if judged.Err != nil || len(judged.Findings) != maxFindings || judged.More[judged.Findings[0].Requirement] != maxParts-maxFindings {
		t.Errorf("%v, %d findings, %v", judged.Err, len(judged.Findings), judged.More)
	}
}

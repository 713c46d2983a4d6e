package hostile

import (
	"bytes"
	"fmt"
	"strings"
)

const (
	grammar  = "RFC 8259: the grammar does not allow it"
	lawfully = "RFC 8259: the grammar allows it"
	outer    = "Pagination: the response body is {items: array, next_starting_after: string}"
	bounded  = "How the specification is read: a bound of the harness never fails a server"
)

// jsons are bodies that are hard to parse, or no JSON, or another value.
func jsons() []Behaviour {
	text := func(name, doc, why string, v Verdict, text string) Behaviour {
		return Behaviour{Name: "json/" + name, Doc: doc, Why: why, Verdict: v, Play: body(func([]byte) []byte { return []byte(text) })}
	}
	around := func(name, doc, why string, v Verdict, before, after string) Behaviour {
		return Behaviour{Name: "json/" + name, Doc: doc, Why: why, Verdict: v, Play: body(func(b []byte) []byte { return []byte(before + string(b) + after) })}
	}
	// member adds a member to the page, without parsing what it says.
	member := func(name, doc, why string, v Verdict, member string) Behaviour {
		return Behaviour{Name: "json/" + name, Doc: doc, Why: why, Verdict: v, Play: body(func(b []byte) []byte { return append([]byte("{"+member+","), b[1:]...) })}
	}
	swap := func(name, doc, why string, v Verdict, old, replacement string) Behaviour {
		return Behaviour{Name: "json/" + name, Doc: doc, Why: why, Verdict: v, Play: body(func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(old), []byte(replacement)) })}
	}
	items := func(name, doc string, v Verdict, items any) Behaviour {
		return Behaviour{Name: "json/items-" + name, Doc: doc, Why: outer, Verdict: v, Play: page(func(page map[string]any) { page["items"] = items })}
	}
	field := func(name, doc, why string, v Verdict, field string, value any) Behaviour {
		return Behaviour{Name: "json/" + name, Doc: doc, Why: why, Verdict: v, Play: row(func(row map[string]any) { row[field] = value })}
	}
	const deep, digits = 100_000, 1_000_000
	return []Behaviour{
		text("empty", "sends an empty body", grammar, fails("BODY-JSON"), ""),
		text("white-space", "sends only white space", grammar, fails("BODY-JSON"), " \n\t "),
		text("null", "sends null", outer, fails("BODY-TYPE"), "null"),
		text("true", "sends true", outer, fails("BODY-TYPE"), "true"),
		text("number", "sends a number", outer, fails("BODY-TYPE"), "42"),
		text("string", "sends a string", outer, fails("BODY-TYPE"), `"page"`),
		text("array", "sends an array instead of a page", outer, fails("BODY-TYPE"), "[]"),
		text("object", "sends an empty object", outer, fails("PAGE-ITEMS-PRESENT"), "{}"),
		text("words", "sends words", grammar, fails("BODY-JSON"), "Internal error, sorry"),
		text("html", "sends a page of HTML", grammar, fails("BODY-JSON"), "<!doctype html><title>x</title><script>alert(1)</script>"),
		text("open-arrays", fmt.Sprintf("opens %d arrays", deep), grammar, noPass("BODY-JSON"), strings.Repeat("[", deep)),
		text("deep-arrays", fmt.Sprintf("nests %d arrays", deep), bounded, noPass("BODY-TYPE"), strings.Repeat("[", deep)+strings.Repeat("]", deep)),
		member("deep-member", "nests 100,000 objects in a field that is not documented", bounded, inconclusive(""), `"x":`+strings.Repeat(`{"x":`, deep)+"1"+strings.Repeat("}", deep)),
		member("nested-300", "nests 300 arrays in a field that is not documented", bounded, inconclusive("256 levels"), `"x":`+strings.Repeat("[", 300)+strings.Repeat("]", 300)),
		member("many-members", "adds 200,000 members", lawfully, noFailure(), manyMembers(200_000)),
		member("name-of-1-MB", "adds a member with a name of 1 MB", lawfully, passes(), `"`+strings.Repeat("n", 1<<20)+`":1`),
		member("empty-name", "adds a member without a name", lawfully, passes(), `"":1`),
		member("proto", "adds the members __proto__ and constructor", lawfully, passes(), `"__proto__":{"items":1},"constructor":{}`),
		member("exponent-huge", "adds the number 1e5000000", bounded, passes(), `"x":1e5000000`),
		member("exponent-tiny", "adds the number 1e-999999999999", bounded, passes(), `"x":1e-999999999999`),
		member("digits", "adds a number of 1,000,000 digits", bounded, passes(), `"x":`+strings.Repeat("9", digits)),
		member("fraction-digits", "adds a fraction of 1,000,000 digits", bounded, passes(), `"x":0.`+strings.Repeat("3", digits)),
		member("minus-zero", "adds the number -0", lawfully, passes(), `"x":-0`),
		member("leading-zeros", "writes a number with leading zeros", grammar, fails("BODY-JSON"), `"x":007`),
		member("nan", "writes NaN", grammar, fails("BODY-JSON"), `"x":NaN`),
		member("infinity", "writes -Infinity", grammar, fails("BODY-JSON"), `"x":-Infinity`),
		member("hexadecimal", "writes a number in hexadecimal", grammar, fails("BODY-JSON"), `"x":0x10`),
		member("plus-sign", "writes a number with a plus sign", grammar, fails("BODY-JSON"), `"x":+1`),
		member("bare-fraction", "writes a fraction without its zero", grammar, fails("BODY-JSON"), `"x":.5`),
		member("undefined", "writes undefined", grammar, fails("BODY-JSON"), `"x":undefined`),
		member("name-without-quotes", "writes a name without quotes", grammar, fails("BODY-JSON"), `x:1`),
		member("single-quotes", "writes single quotes", grammar, fails("BODY-JSON"), `'x':'y'`),
		member("comment", "writes a comment", grammar, fails("BODY-JSON"), `/* page */"x":1`),
		member("control-character", "writes a line break in a string", grammar, fails("BODY-JSON"), "\"x\":\"a\nb\""),
		member("bad-escape", `writes \x in a string`, grammar, fails("BODY-JSON"), `"x":"\x41"`),
		member("cut-escape", `writes half a \u escape`, grammar, fails("BODY-JSON"), `"x":"\u00"`),
		member("duplicate-items", "writes items twice", "RFC 8259, section 4: unpredictable; the harness takes the last", Verdict{Codes: []int{exitPass, exitFail}, Fails: []string{"*"}}, `"items":[]`),
		around("trailing-garbage", "adds garbage after the value", grammar, fails("BODY-JSON"), "", "garbage"),
		around("trailing-value", "sends two values", grammar, fails("BODY-JSON"), "", "\n{}"),
		around("trailing-nul", "ends with a NUL byte", grammar, fails("BODY-JSON"), "", "\x00"),
		around("jsonp", "wraps the value into a call", grammar, fails("BODY-JSON"), "callback(", ");"),
		around("prefix", "begins with )]}'", grammar, fails("BODY-JSON"), ")]}'\n", ""),
		around("record-separator", "begins with a record separator", grammar, fails("BODY-JSON"), "\x1e", ""),
		around("white-space-6-MB", "surrounds the value with 6 MB of white space", lawfully, passes(), strings.Repeat(" ", 3<<20), strings.Repeat("\n", 3<<20)),
		around("beyond-the-bound", "adds 9 MB of white space", bounded, inconclusive(""), strings.Repeat(" ", 9<<20), ""),
		swap("cut-in-two", "sends the first byte only", grammar, fails("BODY-JSON"), `"items"`, "\x00"),
		swap("capital-names", "writes Items instead of items", outer, fails("PAGE-ITEMS-PRESENT"), `"items"`, `"Items"`),
		items("null", "sends null as items", fails("PAGE-ITEMS-TYPE"), nil),
		items("object", "sends an object as items", fails("PAGE-ITEMS-TYPE"), map[string]any{"0": map[string]any{}}),
		items("strings", "sends strings as items", fails("PAGE-ITEMS-TYPE"), []any{"a", "b"}),
		items("nulls", "sends nulls as items", fails("PAGE-ITEMS-TYPE"), []any{nil, nil}),
		items("arrays", "sends arrays as items", fails("PAGE-ITEMS-TYPE"), []any{[]any{}, []any{}}),
		items("empty-objects", "sends empty objects as items", fails("SHAPE-LEAD_LIST-*-PRESENT", "PAGE-*"), []any{map[string]any{}, map[string]any{}}),
		field("names-of-100-kB", "sends names of 100 kB", "Lead list: name is a string, of no stated length", passes(), "name", strings.Repeat("n", 100_000)),
		field("name-number", "sends a number as a name", "Lead list: name is a string", fails("SHAPE-LEAD_LIST-NAME-TYPE"), "name", 1),
		field("id-null", "sends null as an id", "Lead list: id is a string uuid", fails("SHAPE-LEAD_LIST-ID-TYPE", "PAGE-*"), "id", nil),
		field("id-version-4", "sends the same id of version 4 in all rows", "Resources: identifiers are of version 7", fails("SHAPE-LEAD_LIST-ID-VALUE", "PAGE-*"), "id", "6f9619ff-8b86-4011-b42d-00cf4fc964ff"),
		field("id-path", "sends ids that climb directories", "Lead list: id is a string uuid", fails("SHAPE-LEAD_LIST-ID-VALUE", "PAGE-*"), "id", "../../../etc/passwd"),
		field("timestamp-impossible", "sends 30 February", "Resources: timestamps are ISO 8601", fails("SHAPE-LEAD_LIST-TIMESTAMP_CREATED-VALUE", "PAGE-*"), "timestamp_created", "2026-02-30T25:61:00.000Z"),
		field("timestamp-year-10000", "sends a year of 5 digits", "Resources: timestamps are ISO 8601", fails("SHAPE-LEAD_LIST-TIMESTAMP_CREATED-VALUE", "PAGE-*"), "timestamp_created", "10000-01-01T00:00:00.000Z"),
	}
}

func manyMembers(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"m%d":%d`, i, i)
	}
	return b.String()
}

package schemas

import (
	"fmt"
	"testing"

	"outreach.example/conformance/spec"
)

// pageOfTests is a full page whose rows differ, about 100 KB.
func pageOfTests(b *testing.B, salt int) []byte {
	rows := []any{}
	for i := range 100 {
		row := example(b, "InboxPlacementTest")
		row["name"] = fmt.Sprintf("row %d of %d", i, salt)
		rows = append(rows, row)
	}
	return mustJSON(b, map[string]any{"items": rows, "next_starting_after": "x"})
}

func BenchmarkPage(b *testing.B) {
	op := spec.MustOperation(spec.ListPlacementTests)
	run := func(name string, prepare func(v *Validator)) {
		b.Run(name, func(b *testing.B) {
			v, err := New()
			if err != nil {
				b.Fatal(err)
			}
			body := pageOfTests(b, 0)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				prepare(v)
				if judged := v.Answer(op, body); judged.Err != nil || len(judged.Findings) > 0 {
					b.Fatalf("%+v", judged)
				}
			}
		})
	}
	run("known rows", func(*Validator) {})
	run("new rows", func(v *Validator) { v.clean = rowCache{} })
}

func BenchmarkDecode(b *testing.B) {
	body := pageOfTests(b, 0)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		if _, err := New(); err != nil {
			b.Fatal(err)
		}
	}
}

package schemas

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"outreach.example/conformance/spec"
)

// A row is judged the same however often and in whatever company it comes.
func TestRowsAreJudgedAlikeEachTime(t *testing.T) {
	op := spec.MustOperation(spec.ListLeadLists)
	rapid.Check(t, func(rt *rapid.T) {
		fresh := &Validator{engine: validator(t).engine, tables: validator(t).tables} // with an empty cache
		rows := []any{}
		for range rapid.IntRange(0, 4).Draw(rt, "rows") {
			row := example(t, "LeadList")
			if rapid.Bool().Draw(rt, "damaged") {
				mutate(rt, row)
			}
			rows = append(rows, row, row)
		}
		body := mustJSON(t, map[string]any{"items": rows})
		first := fresh.Answer(op, body)
		for _, again := range []Judgement{fresh.Answer(op, body), validator(t).Answer(op, body)} {
			if !reflect.DeepEqual(first, again) {
				rt.Fatalf("first %+v\nagain %+v", first, again)
			}
		}
		// Spread over lines, no row is byte for byte what it was.
		var spread bytes.Buffer
		if err := json.Indent(&spread, body, "", "  "); err != nil {
			rt.Fatal(err)
		}
		if again := fresh.Answer(op, spread.Bytes()); !reflect.DeepEqual(first, again) {
			rt.Fatalf("first %+v\nspread %+v", first, again)
		}
	})
}

func TestBraceInAStringDoesNotEndARow(t *testing.T) {
	v, op := validator(t), spec.MustOperation(spec.ListLeadLists)
	row := example(t, "LeadList")
	row["name"] = `}]} \" {`
	body := mustJSON(t, map[string]any{"items": []any{row, row}})
	for range 2 {
		if judged := v.Answer(op, body); len(judged.Findings) > 0 || len(judged.Body.(map[string]any)["items"].([]any)) != 2 {
			t.Fatalf("%+v", judged)
		}
	}
	truncated := bytes.TrimSuffix(body, []byte(`}]}`))
	if got := brief(v.Answer(op, truncated).Findings); !slices.Equal(got, []string{"BODY-JSON "}) {
		t.Errorf("a page that ends inside a row: %q", got)
	}
}

func TestCacheIsBoundedAndKeepsRowsInUse(t *testing.T) {
	var m rowCache
	s, inUse := &fieldTable{}, []byte("in use")
	m.keep(s, 0, inUse, &cleanRow{})
	row := bytes.Repeat([]byte("x"), cacheBytes/100)
	for i := range 1000 {
		m.keep(s, 0, append([]byte(fmt.Sprint(i, " ")), row...), &cleanRow{})
		if _, ok := m.find(s, 0, inUse); !ok {
			t.Fatalf("a row in use was forgotten after %d others", i)
		}
		if m.size > cacheBytes {
			t.Fatalf("%d bytes in one generation", m.size)
		}
	}
	if _, ok := m.find(s, 0, append([]byte("0 "), row...)); ok {
		t.Error("nothing is ever forgotten")
	}
	if _, ok := m.find(s, 1, inUse); ok {
		t.Error("a row of one form was found as one of another")
	}
	m.keep(s, 0, bytes.Repeat([]byte("y"), cacheBytes), &cleanRow{})
	if _, ok := m.find(s, 0, bytes.Repeat([]byte("y"), cacheBytes)); ok {
		t.Error("a huge row was kept")
	}
}

func TestValidatorIsSafeForConcurrentUse(t *testing.T) {
	v, err := New()
	if err != nil {
		t.Fatal(err)
	}
	bodies := map[string][]byte{}
	for resource, op := range resources() {
		body, _ := wrap(op, example(t, resource))
		bodies[resource] = mustJSON(t, body)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for resource, op := range resources() {
				for range 5 {
					if judged := v.Answer(op, bodies[resource]); judged.Err != nil || len(judged.Findings) > 0 {
						t.Errorf("%s: %+v", resource, judged)
					}
				}
			}
		})
	}
	group.Wait()
}

package schemas

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	. "github.com/onsi/gomega"
	"github.com/xeipuuv/gojsonschema"
	"pgregory.net/rapid"

	"outreach.example/conformance/spec"
)

// The core proof: each field of each resource is damaged in every way that the specification
// forbids, and exactly its own requirement must be found, where the damage is. What the specification
// leaves open must pass. The whole example puts every requirement to the test.
func TestEveryDamageViolatesItsRequirement(t *testing.T) {
	damaged := map[string]bool{}
	for resource, op := range resources() {
		body, _ := wrap(op, example(resource))
		whole := validator().Answer(op, body)
		if whole.Err != nil || len(whole.Findings)+len(whole.Extra) > 0 || !slices.IsSorted(whole.Seen) || len(slices.Compact(slices.Clone(whole.Seen))) < len(whole.Seen) {
			t.Errorf("the example of %s: %+v", resource, whole)
		}
		for _, f := range spec.Fields() {
			if f.Resource != resource {
				continue
			}
			for name, d := range damages(f) {
				row := example(resource)
				pointer := d.apply(row, "", strings.Split(f.Path, "."))
				body, prefix := wrap(op, row)
				judged := validator().Answer(op, body)
				if d.aspect == "" {
					if judged.Err != nil || len(judged.Findings) > 0 {
						t.Errorf("%s.%s: %s is allowed: %v, %+v", resource, f.Path, name, judged.Err, judged.Findings)
					}
					continue
				}
				id := f.Requirement(d.aspect)
				damaged[id] = true
				if !slices.Equal(brief(judged.Findings), []string{id + " " + prefix + pointer}) || judged.Findings[0].Expected == "" || judged.Findings[0].Actual == "" {
					t.Errorf("%s.%s: %s: want %s at %s alone, got %v, %+v", resource, f.Path, name, id, prefix+pointer, judged.Err, judged.Findings)
				}
				if !slices.Contains(judged.Seen, id) || d.aspect == spec.Type && slices.Contains(judged.Seen, f.Requirement(spec.Value)) && !strings.Contains(f.Path, "ENTRY") {
					t.Errorf("%s.%s: %s: seen %q", resource, f.Path, name, judged.Seen)
				}
				if !slices.Contains(whole.Seen, id) {
					t.Errorf("the example of %s does not put %s to the test", resource, id)
				}
			}
		}
	}
	for _, s := range newFieldTables() {
		for _, id := range s.ids {
			if !damaged[id] {
				t.Errorf("no damage violates %s", id)
			}
		}
	}
}

// damage is one change to a field and the aspect that it violates; none if the specification allows it.
type damage struct {
	aspect  spec.Aspect
	value   any
	removed bool
}

// apply damages the first field with the path: ITEM is item 0, ENTRY the first key. It returns where.
func (d damage) apply(at any, pointer string, path []string) string {
	key, last := path[0], len(path) == 1
	switch parent := at.(type) {
	case map[string]any:
		if key == "ENTRY" {
			key = slices.Sorted(maps.Keys(parent))[0]
		}
		pointer += "/" + key
		switch {
		case !last:
			return d.apply(parent[key], pointer, path[1:])
		case d.removed:
			delete(parent, key)
		default:
			parent[key] = d.value
		}
	case []any:
		pointer += "/0"
		if !last {
			return d.apply(parent[0], pointer, path[1:])
		}
		parent[0] = d.value
	}
	return pointer
}

func damages(f spec.Field) map[string]damage {
	all, types := map[string]damage{}, strings.Split(strings.ReplaceAll(f.Type, " or ", ", "), ", ")
	if !strings.HasSuffix(f.Path, "ITEM") && !strings.HasSuffix(f.Path, "ENTRY") {
		all["missing"] = damage{removed: true}
		if f.Required {
			all["missing"] = damage{aspect: spec.Present, removed: true}
		}
	}
	for name, value := range map[string]any{"null": nil, "a string": "no such value", "a number": json.Number("0.25"),
		"a boolean": true, "an object": map[string]any{"surprise": "here"}, "an array": []any{"surprise"}} {
		if !slices.Contains(types, name) {
			all[name] = damage{aspect: spec.Type, value: value}
		} else if name == "null" {
			all[name] = damage{}
		}
	}
	if f.Value != "" {
		for i, value := range badValues(f.Value, types) {
			all[fmt.Sprint("bad value ", i)] = damage{aspect: spec.Value, value: value}
		}
	}
	return all
}

func badValues(words string, types []string) []any {
	switch {
	case strings.Contains(words, "not negative"):
		return []any{json.Number("1.5"), json.Number("-1")}
	case slices.Contains(types, "a number"):
		return []any{json.Number("1.5"), json.Number("77"), json.Number("1e300")}
	case slices.Contains(types, "an array"):
		return []any{[]any{}}
	case slices.Contains(types, "an object"):
		return []any{map[string]any{}, map[string]any{"1": true, "7": true}, map[string]any{"monday": true}}
	case strings.Contains(words, "UUID of version 7"):
		return []any{"01890a5d-ac96-474b-bcce-b302099a8057", "no such value"}
	case strings.Contains(words, "timestamp"):
		return []any{"2026-03-01T09:30:00Z", "2026-03-01T09:30:00.000+02:00", "2026-02-30T09:30:00.000Z"}
	case strings.Contains(words, "calendar date"):
		return []any{"2026-02-30", "2026-03-01T00:00:00.000Z"}
	case strings.Contains(words, "HH:MM"):
		return []any{"24:00", "9:00", "09:00:00"}
	case strings.Contains(words, "E.164"):
		return []any{"14155550123", "+1 415 555 0123", "+0415555012", "+1234567890123456"}
	}
	return []any{"no such value"}
}

func TestOuterForms(t *testing.T) {
	lists, number, lead := spec.MustOperation(spec.ListLeadLists), spec.MustOperation(spec.ListPhoneNumbers), spec.MustOperation(spec.MoveLead)
	list := string(encoded(example("LeadList")))
	for _, c := range []struct {
		body     string
		op       spec.Operation
		findings []string
		notSeen  string
		extra    []string
	}{
		{`<html>`, lead, []string{"BODY-JSON "}, "BODY-TYPE", nil},
		{``, lists, []string{"BODY-JSON "}, "BODY-TYPE", nil},
		{`[]`, lead, []string{"BODY-TYPE "}, "", nil},
		{`null`, lead, []string{"BODY-TYPE "}, "", nil},
		{`[{}]`, lists, []string{"BODY-TYPE "}, "PAGE-ITEMS-PRESENT", nil},
		{`{"items":[]}`, number, []string{"BODY-TYPE "}, "", nil},
		{`[]`, number, nil, "", nil},
		{`[1,[],null]`, number, []string{"BODY-TYPE /0", "BODY-TYPE /1", "BODY-TYPE /2"}, "", nil},
		{`{"items":[]}`, lists, nil, "PAGE-CURSOR-TYPE", nil},
		{`{"next_starting_after":"x"}`, lists, []string{"PAGE-ITEMS-PRESENT /items"}, "PAGE-ITEMS-TYPE", nil},
		{`{"items":null}`, lists, []string{"PAGE-ITEMS-TYPE /items"}, "", nil},
		{`{"items":{"0":{}}}`, lists, []string{"PAGE-ITEMS-TYPE /items"}, "", nil},
		{`{"items":[` + list + `,"x"]}`, lists, []string{"PAGE-ITEMS-TYPE /items/1"}, "", nil},
		{`{"next_starting_after":null,"items":[]}`, lists, nil, "", nil},
		{`{"items":1,"next_starting_after":[]}`, lists, []string{"PAGE-ITEMS-TYPE /items", "PAGE-CURSOR-TYPE /next_starting_after"}, "", nil},
		{`{"items":[{}],"items":[]}`, lists, nil, "", nil}, // the last of them counts
		{`{"items":[` + list[:len(list)-1] + `,"colour":"red","items":[1]}],"total":3}`, lists, nil, "", []string{"LeadList.colour", "LeadList.items", "LeadListPage.total"}},
	} {
		g, judged := NewWithT(t), validator().Answer(c.op, []byte(c.body))
		g.Expect(judged.Err).NotTo(HaveOccurred())
		g.Expect(brief(judged.Findings)).To(Equal(c.findings), c.body)
		g.Expect(judged.Seen).NotTo(ContainElement(c.notSeen), c.body)
		g.Expect(judged.Extra).To(Equal(c.extra), c.body)
		for _, f := range judged.Findings {
			g.Expect(judged.Seen).To(ContainElement(f.Requirement))
		}
	}
	NewWithT(t).Expect(validator().Answer(spec.Operation{ID: "x", Resource: "Nothing"}, []byte(`{}`)).Err).To(HaveOccurred())
}

// Findings come in one order, with pointers into the body. Whole numbers may have a fraction.
func TestFindings(t *testing.T) {
	g, row := NewWithT(t), example("Campaign")
	step := row["sequences"].([]any)[0].(map[string]any)["steps"].([]any)[0].(map[string]any)
	step["type"] = "letter"
	delete(step, "delay")
	row["name"], row["status"] = json.Number("1.0"), "active"
	row["campaign_schedule"].(map[string]any)["schedules"].([]any)[0].(map[string]any)["days"] = map[string]any{"a/b~c": true}
	for range 20 {
		g.Expect(brief(validator().Answer(spec.MustOperation(spec.AddCampaignVariables), encoded(row)).Findings)).To(Equal([]string{
			"SHAPE-CAMPAIGN-CAMPAIGN_SCHEDULE.SCHEDULES.ITEM.DAYS-VALUE /campaign_schedule/schedules/0/days",
			"SHAPE-CAMPAIGN-NAME-TYPE /name",
			"SHAPE-CAMPAIGN-SEQUENCES.ITEM.STEPS.ITEM.DELAY-PRESENT /sequences/0/steps/0/delay",
			"SHAPE-CAMPAIGN-SEQUENCES.ITEM.STEPS.ITEM.TYPE-VALUE /sequences/0/steps/0/type",
			"SHAPE-CAMPAIGN-STATUS-TYPE /status"}))
	}
	lead := example("Lead")
	lead["payload"] = map[string]any{"a/b~c": []any{}, "fine": nil}
	judged := validator().Answer(spec.MustOperation(spec.MoveLead), encoded(lead))
	g.Expect(brief(judged.Findings)).To(Equal([]string{"SHAPE-LEAD-PAYLOAD.ENTRY-TYPE /payload/a~1b~0c"}))
	g.Expect(judged.Extra).To(BeEmpty(), "keys of a payload are free")
	test := example("InboxPlacementTest")
	test["status"], test["delivery_mode"], test["type"] = json.Number("1.0"), json.Number("1.0"), json.Number("2e0")
	g.Expect(validator().Answer(spec.MustOperation(spec.GetPlacementTest), encoded(test)).Findings).To(BeEmpty())
}

func TestErrorBodies(t *testing.T) {
	for _, c := range []struct {
		status   int
		body     string
		findings []string
		seen     int
	}{
		{404, `{"statusCode":404,"error":"Not Found","message":"Nobody here"}`, nil, 4},
		{401, `{"statusCode":401.0,"error":"Unauthorized","message":"x"}`, nil, 4},
		{401, `Unauthorized`, []string{"ERROR-401-BODY "}, 1},
		{402, `[]`, []string{"ERROR-402-BODY "}, 1},
		{429, `{}`, []string{"ERROR-429-ERROR /error", "ERROR-429-MESSAGE /message", "ERROR-429-STATUSCODE /statusCode"}, 4},
		{429, `{"statusCode":404,"error":"Too Many Requests","message":"x"}`, []string{"ERROR-429-STATUSCODE /statusCode"}, 4},
		{401, `{"statusCode":"401","error":"Unauthorized","message":"x"}`, []string{"ERROR-401-STATUSCODE /statusCode"}, 4},
		{402, `{"statusCode":402,"error":"payment required","message":"x"}`, []string{"ERROR-402-ERROR /error"}, 4},
		{402, `{"statusCode":402,"error":"Payment Required","message":""}`, []string{"ERROR-402-MESSAGE /message"}, 4},
		{404, `{"statusCode":null,"error":null,"message":["x"]}`, []string{"ERROR-404-ERROR /error", "ERROR-404-MESSAGE /message", "ERROR-404-STATUSCODE /statusCode"}, 4},
	} {
		g, judged := NewWithT(t), validator().Error(c.status, []byte(c.body))
		g.Expect(judged.Err).NotTo(HaveOccurred())
		g.Expect(brief(judged.Findings)).To(Equal(c.findings), c.body)
		g.Expect(judged.Seen).To(HaveLen(c.seen), c.body)
		for _, id := range judged.Seen {
			_, known := spec.FindRequirement(id)
			g.Expect(known).To(BeTrue(), id)
		}
	}
	g := NewWithT(t)
	g.Expect(validator().Error(401, []byte(`{"statusCode":401,"error":"Unauthorized","message":"x","trace":1}`)).Extra).To(Equal([]string{"Error.trace"}))
	g.Expect(validator().Error(500, []byte(`{}`)).Err).To(HaveOccurred(), "the specification documents no body for 500")
}

// What a judgement shows is bounded: all findings are counted, and the first of each requirement
// have their details. Of many rows and of a long row, only some parts are checked.
func TestJudgementsAreBounded(t *testing.T) {
	g, lists := NewWithT(t), spec.MustOperation(spec.ListLeadLists)
	judged := validator().Answer(lists, []byte(`{"items":[`+strings.Repeat(`"no row",`, 3*maxRows)+`0]}`))
	g.Expect(judged.Findings).To(HaveLen(maxFindings))
	g.Expect(judged.More).To(HaveKeyWithValue("PAGE-ITEMS-TYPE", maxRows-maxFindings))

	row := example("InboxPlacementTest")
	for i := range 4 * maxParts {
		row[fmt.Sprint("x", i)] = strings.Repeat("y", 100)
	}
	row["extra"] = strings.Repeat("z", maxRow)
	judged = validator().Answer(spec.MustOperation(spec.GetPlacementTest), encoded(row))
	g.Expect(judged.Err).NotTo(HaveOccurred())
	g.Expect(judged.Findings).To(BeEmpty())
	g.Expect(judged.Extra).To(HaveLen(maxExtra))
	row["tags"] = make([]any, 100*maxParts)
	judged = validator().Answer(spec.MustOperation(spec.GetPlacementTest), encoded(row))
	g.Expect(judged.Findings).To(HaveLen(maxFindings))
	g.Expect(judged.More[judged.Findings[0].Requirement]).To(Equal(maxParts - maxFindings))

	for _, huge := range []any{strings.Repeat("é", 5000), []any{strings.Repeat("x", 5000)}, map[string]any{strings.Repeat("k", 5000): nil}} {
		row := example("LeadList")
		row["timestamp_created"], row[strings.Repeat("n", 5000)] = huge, true
		judged := validator().Answer(lists, encoded(map[string]any{"items": []any{row}}))
		g.Expect(judged.Findings).To(HaveLen(1))
		g.Expect(utf8.RuneCountInString(judged.Findings[0].Actual)).To(BeNumerically("<=", maxActual))
		g.Expect(judged.Extra).To(ConsistOf(HaveLen(len("LeadList.") + len(clip(strings.Repeat("n", 5000))))))
	}
}

// A bound of the harness never fails a server: what exceeds it is not judged.
func TestBoundsFailNobody_long(t *testing.T) {
	g, op := NewWithT(t), spec.MustOperation(spec.ListLeadLists)
	deep := strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth)
	bodies := []string{`{"items":[],"x":` + deep + `}`}
	for _, part := range []string{"[],", `{"":0},`, "0,", "null,"} {
		many := strings.Repeat(part, maxMemory/32)
		bodies = append(bodies, `{"items":[`+many+`0]}`, `{"items":[],"extra":[`+many+`0]}`)
	}
	for i, body := range bodies {
		for _, judged := range []Judgement{validator().Answer(op, []byte(body)), validator().Error(404, []byte(body))} {
			g.Expect(judged.Err).To(HaveOccurred())
			g.Expect(errors.Is(judged.Err, errTooMuch)).To(Equal(i > 0))
			g.Expect(len(judged.Findings) + len(judged.Seen)).To(BeZero())
		}
	}
}

// A number beyond the bounds leaves the requirements on its own value without a verdict, and no others.
func TestNumbersBeyondBounds(t *testing.T) {
	for _, number := range numbersBeyondBounds {
		for field, unread := range map[string][]string{
			"interest_status": {"SHAPE-LEAD_LABEL-INTEREST_STATUS-TYPE"}, "x": nil, "label": nil, // a number where a text belongs
		} {
			row := example("LeadLabel")
			row[field] = json.Number("4711")
			body := bytes.Replace(encoded(map[string]any{"items": []any{row}}), []byte("4711"), []byte(number), 1)
			for range 2 {
				g, j := NewWithT(t), validator().Answer(spec.MustOperation(spec.ListLeadLabels), body)
				g.Expect(j.Err).NotTo(HaveOccurred())
				g.Expect(len(j.Findings) > 0).To(Equal(field == "label"), number)
				g.Expect(j.Unread).To(Equal(unread), number)
				g.Expect(slices.Contains(j.Seen, "SHAPE-LEAD_LABEL-INTEREST_STATUS-TYPE")).To(Equal(unread == nil))
				g.Expect(j.Seen).To(ContainElement("SHAPE-LEAD_LABEL-INTEREST_STATUS-PRESENT"))
			}
		}
		j := validator().Error(404, []byte(`{"statusCode":`+number+`,"error":"Not Found","message":"no"}`))
		NewWithT(t).Expect(j.Findings).To(BeEmpty())
		NewWithT(t).Expect(j.Unread).To(Equal([]string{"ERROR-404-STATUSCODE"}))
	}
}

// A row is judged the same however often and in whatever company it comes.
func TestRowsAreJudgedAlikeEachTime(t *testing.T) {
	op := spec.MustOperation(spec.ListLeadLists)
	rapid.Check(t, func(rt *rapid.T) {
		fresh := &Validator{engine: validator().engine, tables: validator().tables} // with an empty cache
		rows := []any{}
		for range rapid.IntRange(0, 4).Draw(rt, "rows") {
			row := example("LeadList")
			if row["name"] = `}]} \" {`; rapid.Bool().Draw(rt, "damaged") {
				mutate(rt, row)
			}
			rows = append(rows, row, row)
		}
		body := encoded(map[string]any{"items": rows})
		var spread bytes.Buffer // no row is byte for byte what it was
		_ = json.Indent(&spread, body, "", "  ")
		first := fresh.Answer(op, body)
		for _, again := range []Judgement{fresh.Answer(op, body), validator().Answer(op, body), fresh.Answer(op, spread.Bytes())} {
			if !reflect.DeepEqual(first, again) {
				rt.Fatalf("first %+v\nagain %+v", first, again)
			}
		}
		if cut := brief(fresh.Answer(op, body[:len(body)-2]).Findings); !slices.Equal(cut, []string{"BODY-JSON "}) {
			rt.Fatalf("a page that is cut off: %q", cut)
		}
	})
}

func TestCacheIsBoundedAndKeepsRowsInUse(t *testing.T) {
	var m rowCache
	g, s, inUse := NewWithT(t), &fieldTable{}, []byte("in use")
	known := func(form int, raw []byte) bool { _, ok := m.find(s, form, raw); return ok }
	m.keep(s, 0, inUse, &cleanRow{})
	row := bytes.Repeat([]byte("x"), cacheBytes/100)
	for i := range 1000 {
		m.keep(s, 0, append([]byte(fmt.Sprint(i, " ")), row...), &cleanRow{})
		g.Expect(known(0, inUse)).To(BeTrue())
		g.Expect(m.size).To(BeNumerically("<=", cacheBytes))
	}
	g.Expect(known(0, append([]byte("0 "), row...))).To(BeFalse(), "an old row")
	g.Expect(known(1, inUse)).To(BeFalse(), "a row of another form")
	huge := bytes.Repeat([]byte("y"), cacheBytes)
	m.keep(s, 0, huge, &cleanRow{})
	g.Expect(known(0, huge)).To(BeFalse(), "a huge row")
}

// gojsonschema panics on a number whose enum it cannot compare, and fetches unknown schemas. Neither
// happens here.
func TestTheEngineIsContained(t *testing.T) {
	g := NewWithT(t)
	_, err := validator().engine.check("Lead.schema.json", map[string]any{"status": json.Number("1e400")})
	g.Expect(err).To(MatchError(ContainSubstring("panicked")))
	_, err = validator().engine.check("Nothing.schema.json", nil)
	g.Expect(err).To(HaveOccurred())
	loader := gojsonschema.NewSchemaLoader()
	g.Expect(loader.AddSchema(schemaURL("A.schema.json"), gojsonschema.NewStringLoader(`{"$ref":"B.schema.json"}`))).To(Succeed())
	_, err = loader.Compile(reference("A.schema.json"))
	g.Expect(err).To(MatchError(ContainSubstring("B.schema.json is not an embedded schema")))
}

// A long, opaque value in place of an id may be somebody's key.
func TestOpaqueValuesInPlaceOfIDs(t *testing.T) {
	const key = "sk_live_4fG7hJ2kL9mN0pQ3"
	digest := sha256.Sum256([]byte(key))
	for value, want := range map[string]string{
		"019322d1-e000-4000-8000-000000000001": `"019322d1-e000-4000-8000-000000000001"`, // the wrong version is worth showing
		"campaign-7":                           `"campaign-7"`,
		"the-first-campaign-of-all":            `"the-first-campaign-of-all"`,
		"not an id but 20 words":               `"not an id but 20 words"`,
		key:                                    `"sk_live_"… (24 characters, SHA-256 ` + hex.EncodeToString(digest[:6]) + `…)`,
	} {
		g, plain := NewWithT(t), strings.ReplaceAll(want, `"`, "")
		g.Expect(RenderID(value)).To(Equal(want))
		g.Expect(ShortenID(value)).To(Equal(plain))
		for _, body := range []string{`{"id":"%s"}`, `{"lead_id": "%s", "name":"sk_live_4fG7hJ2kL9mN0pQ3"}`, `[{"id":"%s`} {
			g.Expect(ShortenIDs(fmt.Sprintf(body, value))).To(Equal(fmt.Sprintf(body, plain)))
		}
	}
}

func FuzzAnswer(f *testing.F) {
	ops := spec.Operations()
	for i, op := range ops {
		body, _ := wrap(op, example(op.Resource))
		f.Add(uint8(i), body)
	}
	f.Add(uint8(4), []byte(`{"items":[{"id":1e308,"tags":[{}],"a\u0000":{"":[]}}]}`))
	f.Fuzz(func(t *testing.T, which uint8, body []byte) {
		judged := validator().Answer(ops[int(which)%len(ops)], body)
		if judged.Err != nil {
			t.Fatal(judged.Err)
		}
		_, undecodable := Decode(body)
		if (undecodable != nil) != slices.Contains(brief(judged.Findings), "BODY-JSON ") {
			t.Fatalf("Decode says %v, findings are %+v", undecodable, judged.Findings)
		}
		for _, finding := range judged.Findings {
			if !slices.Contains(judged.Seen, finding.Requirement) || utf8.RuneCountInString(finding.Actual) > maxActual {
				t.Fatalf("%+v; seen %q", finding, judged.Seen)
			}
		}
	})
}

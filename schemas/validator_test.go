package schemas

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"outreach.example/conformance/spec"
)

// brief writes findings as "REQUIREMENT pointer".
func brief(findings []Finding) []string {
	list := []string{}
	for _, f := range findings {
		list = append(list, f.Requirement+" "+f.Pointer)
	}
	return list
}

func TestOuterForms(t *testing.T) {
	lists, number, lead := spec.MustOperation(spec.ListLeadLists), spec.MustOperation(spec.ListPhoneNumbers), spec.MustOperation(spec.MoveLead)
	list := string(exampleJSON(t, "LeadList"))
	cases := []struct {
		name, body string
		op         spec.Operation
		findings   []string
		notSeen    []string
		extra      []string
	}{
		{"no JSON", `<html>`, lead, []string{"BODY-JSON "}, []string{"BODY-TYPE"}, nil},
		{"no body", ``, lists, []string{"BODY-JSON "}, []string{"BODY-TYPE", "PAGE-ITEMS-PRESENT"}, nil},
		{"an array for an object", `[]`, lead, []string{"BODY-TYPE "}, nil, nil},
		{"null for an object", `null`, lead, []string{"BODY-TYPE "}, nil, nil},
		{"an array for a page", `[{}]`, lists, []string{"BODY-TYPE "}, []string{"PAGE-ITEMS-PRESENT"}, nil},
		{"a page for an array", `{"items":[]}`, number, []string{"BODY-TYPE "}, nil, nil},
		{"an empty array", `[]`, number, nil, nil, nil},
		{"items that are no objects in an array", `[1,[],null]`, number, []string{"BODY-TYPE /0", "BODY-TYPE /1", "BODY-TYPE /2"}, nil, nil},
		{"an empty page", `{"items":[]}`, lists, nil, []string{"PAGE-CURSOR-TYPE"}, nil},
		{"a page without items", `{"next_starting_after":"x"}`, lists, []string{"PAGE-ITEMS-PRESENT /items"}, []string{"PAGE-ITEMS-TYPE"}, nil},
		{"items null", `{"items":null}`, lists, []string{"PAGE-ITEMS-TYPE /items"}, nil, nil},
		{"items an object", `{"items":{"0":{}}}`, lists, []string{"PAGE-ITEMS-TYPE /items"}, nil, nil},
		{"an item that is no object", `{"items":[` + list + `,"x"]}`, lists, []string{"PAGE-ITEMS-TYPE /items/1"}, nil, nil},
		{"a cursor", `{"items":[],"next_starting_after":"x"}`, lists, nil, nil, nil},
		{"a cursor null", `{"next_starting_after":null,"items":[]}`, lists, nil, nil, nil},
		{"a cursor that is a number", `{"items":[],"next_starting_after":7}`, lists, []string{"PAGE-CURSOR-TYPE /next_starting_after"}, nil, nil},
		{"both wrong", `{"items":1,"next_starting_after":[]}`, lists, []string{"PAGE-ITEMS-TYPE /items", "PAGE-CURSOR-TYPE /next_starting_after"}, nil, nil},
		{"items twice, the last of which count", `{"items":[{}],"items":[]}`, lists, nil, nil, nil},
		{"undocumented fields", `{"items":[` + list[:len(list)-1] + `,"colour":"red","items":[1]}],"total":3}`, lists, nil, nil,
			[]string{"LeadList.colour", "LeadList.items", "LeadListPage.total"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			judged := validator(t).Answer(c.op, []byte(c.body))
			if judged.Err != nil {
				t.Fatal(judged.Err)
			}
			if got := brief(judged.Findings); !slices.Equal(got, c.findings) {
				t.Errorf("found %q, want %q", got, c.findings)
			}
			for _, f := range judged.Findings {
				if !slices.Contains(judged.Seen, f.Requirement) {
					t.Errorf("%s is violated but not among Seen", f.Requirement)
				}
			}
			for _, id := range c.notSeen {
				if slices.Contains(judged.Seen, id) {
					t.Errorf("%s was not put to the test", id)
				}
			}
			if !slices.Equal(judged.Extra, c.extra) {
				t.Errorf("extra %q, want %q", judged.Extra, c.extra)
			}
		})
	}
}

func TestFindingsComeInOrderWithPointersIntoTheBody(t *testing.T) {
	row := example(t, "Campaign")
	step := row["sequences"].([]any)[0].(map[string]any)["steps"].([]any)[0].(map[string]any)
	step["type"] = "letter"
	delete(step, "delay")
	row["name"] = json.Number("1.0")
	row["status"] = "active"
	row["campaign_schedule"].(map[string]any)["schedules"].([]any)[0].(map[string]any)["days"] = map[string]any{"a/b~c": true}
	body := mustJSON(t, row)
	want := []string{
		"SHAPE-CAMPAIGN-CAMPAIGN_SCHEDULE.SCHEDULES.ITEM.DAYS-VALUE /campaign_schedule/schedules/0/days",
		"SHAPE-CAMPAIGN-NAME-TYPE /name",
		"SHAPE-CAMPAIGN-SEQUENCES.ITEM.STEPS.ITEM.DELAY-PRESENT /sequences/0/steps/0/delay",
		"SHAPE-CAMPAIGN-SEQUENCES.ITEM.STEPS.ITEM.TYPE-VALUE /sequences/0/steps/0/type",
		"SHAPE-CAMPAIGN-STATUS-TYPE /status",
	}
	for range 20 {
		if got := brief(validator(t).Answer(spec.MustOperation(spec.AddCampaignVariables), body).Findings); !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}

func TestPointersAreEscaped(t *testing.T) {
	row := example(t, "Lead")
	row["payload"] = map[string]any{"a/b~c": []any{}, "fine": nil}
	judged := validator(t).Answer(spec.MustOperation(spec.MoveLead), mustJSON(t, row))
	if got, want := brief(judged.Findings), []string{"SHAPE-LEAD-PAYLOAD.ENTRY-TYPE /payload/a~1b~0c"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(judged.Extra) > 0 {
		t.Errorf("keys of a payload are free, got %q", judged.Extra)
	}
}

func TestWholeNumbersMayHaveAFraction(t *testing.T) {
	row := example(t, "InboxPlacementTest")
	for _, name := range []string{"type", "sending_method", "delivery_mode", "status"} {
		row[name] = json.Number("1.0")
	}
	row["type"] = json.Number("2e0")
	if judged := validator(t).Answer(spec.MustOperation(spec.GetPlacementTest), mustJSON(t, row)); len(judged.Findings) > 0 || judged.Err != nil {
		t.Errorf("%+v", judged)
	}
}

func TestActualIsBounded(t *testing.T) {
	row := example(t, "LeadList")
	for _, huge := range []any{strings.Repeat("é", 5000), []any{strings.Repeat("x", 5000)}, map[string]any{strings.Repeat("k", 5000): nil}} {
		row["timestamp_created"] = huge
		row[strings.Repeat("n", 5000)] = true
		judged := validator(t).Answer(spec.MustOperation(spec.ListLeadLists), mustJSON(t, map[string]any{"items": []any{row}}))
		if len(judged.Findings) != 1 {
			t.Fatalf("%+v", judged.Findings)
		}
		if n := utf8.RuneCountInString(judged.Findings[0].Actual); n > maxActual {
			t.Errorf("Actual has %d characters", n)
		}
		if len(judged.Extra) != 1 || len(judged.Extra[0]) > 200 {
			t.Errorf("extra %q", judged.Extra)
		}
	}
}

func TestExtraIsBounded(t *testing.T) {
	row := example(t, "LeadList")
	for i := range 500 {
		row[fmt.Sprintf("x%03d", i)] = true
	}
	judged := validator(t).Answer(spec.MustOperation(spec.ListLeadLists), mustJSON(t, map[string]any{"items": []any{row}}))
	if len(judged.Extra) != maxExtra || !sortedUnique(judged.Extra) || judged.Extra[0] != "LeadList.x000" {
		t.Errorf("%d: %q", len(judged.Extra), judged.Extra)
	}
}

func TestUnknownResourcesAreErrors(t *testing.T) {
	judged := validator(t).Answer(spec.Operation{ID: "x", Resource: "Nothing"}, []byte(`{}`))
	if judged.Err == nil || len(judged.Seen) > 0 || len(judged.Findings) > 0 {
		t.Errorf("%+v", judged)
	}
}

func TestErrorBodies(t *testing.T) {
	cases := []struct {
		name     string
		status   int
		body     string
		findings []string
		seen     int
	}{
		{"good", 404, `{"statusCode":404,"error":"Not Found","message":"Nobody here"}`, nil, 4},
		{"a number with a fraction", 401, `{"statusCode":401.0,"error":"Unauthorized","message":"x"}`, nil, 4},
		{"no JSON", 401, `Unauthorized`, []string{"ERROR-401-BODY "}, 1},
		{"no object", 402, `[]`, []string{"ERROR-402-BODY "}, 1},
		{"empty", 429, `{}`, []string{"ERROR-429-ERROR /error", "ERROR-429-MESSAGE /message", "ERROR-429-STATUSCODE /statusCode"}, 4},
		{"another status", 429, `{"statusCode":404,"error":"Too Many Requests","message":"x"}`, []string{"ERROR-429-STATUSCODE /statusCode"}, 4},
		{"a status in quotes", 401, `{"statusCode":"401","error":"Unauthorized","message":"x"}`, []string{"ERROR-401-STATUSCODE /statusCode"}, 4},
		{"another text", 402, `{"statusCode":402,"error":"payment required","message":"x"}`, []string{"ERROR-402-ERROR /error"}, 4},
		{"an empty message", 402, `{"statusCode":402,"error":"Payment Required","message":""}`, []string{"ERROR-402-MESSAGE /message"}, 4},
		{"a message list", 404, `{"statusCode":404,"error":"Not Found","message":["x"]}`, []string{"ERROR-404-MESSAGE /message"}, 4},
		{"nulls", 404, `{"statusCode":null,"error":null,"message":null}`, []string{"ERROR-404-ERROR /error", "ERROR-404-MESSAGE /message", "ERROR-404-STATUSCODE /statusCode"}, 4},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			judged := validator(t).Error(c.status, []byte(c.body))
			if got := brief(judged.Findings); !slices.Equal(got, c.findings) || judged.Err != nil {
				t.Errorf("found %q, want %q; %v", got, c.findings, judged.Err)
			}
			if len(judged.Seen) != c.seen || !sortedUnique(judged.Seen) {
				t.Errorf("seen %q", judged.Seen)
			}
			for _, id := range judged.Seen {
				if _, known := spec.FindRequirement(id); !known {
					t.Errorf("%s is not in the catalogue", id)
				}
			}
		})
	}
	judged := validator(t).Error(401, []byte(`{"statusCode":401,"error":"Unauthorized","message":"x","trace":1}`))
	if !slices.Equal(judged.Extra, []string{"Error.trace"}) {
		t.Errorf("extra %q", judged.Extra)
	}
	if judged := validator(t).Error(500, []byte(`{}`)); judged.Err == nil {
		t.Error("the specification documents no body for 500")
	}
}

func FuzzAnswer(f *testing.F) {
	ops := spec.Operations()
	for i, op := range ops {
		body, _ := wrap(op, example(f, op.Resource))
		f.Add(uint8(i), mustJSON(f, body))
	}
	f.Add(uint8(4), []byte(`{"items":[{"id":1e308,"tags":[{}],"a\u0000":{"":[]}}]}`))
	f.Fuzz(func(t *testing.T, which uint8, body []byte) {
		op := ops[int(which)%len(ops)]
		judged := validator(t).Answer(op, body)
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

// A bound of the harness never fails a server: what exceeds it is not judged.
func TestBoundsFailNobody(t *testing.T) {
	v, err := New()
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"depth": strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth),
	} {
		if j := v.Answer(spec.MustOperation(spec.ListLeadLists), []byte(`{"items":[],"x":`+value+`}`)); j.Err == nil || len(j.Findings)+len(j.Seen) > 0 {
			t.Errorf("%s: a page is judged: %+v", name, j)
		}
		if j := v.Error(404, []byte(`{"statusCode":404,"error":"Not Found","message":"no","x":`+value+`}`)); j.Err == nil || len(j.Findings)+len(j.Seen) > 0 {
			t.Errorf("%s: an error is judged: %+v", name, j)
		}
	}
}

// A number beyond the bounds leaves the requirements on its own value without a verdict, and
// no others.
func TestNumbersBeyondBounds(t *testing.T) {
	v := validator(t)
	for _, number := range numbersBeyondBounds {
		for field, unread := range map[string][]string{
			"interest_status": {"SHAPE-LEAD_LABEL-INTEREST_STATUS-TYPE"},
			"x":               nil,
			"label":           nil, // a number where a text belongs
		} {
			row := example(t, "LeadLabel")
			row[field] = json.Number("4711")
			body := bytes.Replace(mustJSON(t, map[string]any{"items": []any{row}}), []byte("4711"), []byte(number), 1)
			for range 2 {
				j := v.Answer(spec.MustOperation(spec.ListLeadLabels), body)
				if j.Err != nil || (field == "label") != (len(j.Findings) > 0) || !slices.Equal(j.Unread, unread) {
					t.Errorf("%s %.10s…: unread %q, findings %d, error %v", field, number, j.Unread, len(j.Findings), j.Err)
				}
				if slices.ContainsFunc(unread, func(id string) bool { return slices.Contains(j.Seen, id) }) || !slices.Contains(j.Seen, "SHAPE-LEAD_LABEL-INTEREST_STATUS-PRESENT") {
					t.Errorf("%s %.10s…: seen %q", field, number, j.Seen)
				}
			}
		}
		j := v.Error(404, []byte(`{"statusCode":`+number+`,"error":"Not Found","message":"no"}`))
		if len(j.Findings) > 0 || !slices.Equal(j.Unread, []string{"ERROR-404-STATUSCODE"}) || len(j.Seen) != 3 {
			t.Errorf("%.10s…: an error: %+v", number, j)
		}
	}
}

// A long, opaque value in place of an id may be somebody's key.
func TestOpaqueValuesInPlaceOfIDs(t *testing.T) {
	for value, want := range map[string]string{
		"019322d1-e000-4000-8000-000000000001": `"019322d1-e000-4000-8000-000000000001"`, // the wrong version is worth showing
		"campaign-7":                           `"campaign-7"`,
		"the-first-campaign-of-all":            `"the-first-campaign-of-all"`,
		"not an id but 20 words":               `"not an id but 20 words"`,
		"sk_live_4fG7hJ2kL9mN0pQ3":             `"sk_live_"… (24 characters, SHA-256 ` + "X" + `…)`,
	} {
		digest := sha256.Sum256([]byte(value))
		want = strings.Replace(want, "X", hex.EncodeToString(digest[:6]), 1)
		if got := RenderID(value); got != want {
			t.Errorf("%s: got %s, want %s", value, got, want)
		}
		plain := strings.ReplaceAll(want, `"`, "")
		if got := ShortenID(value); got != plain {
			t.Errorf("%s: got %s, want %s", value, got, plain)
		}
		for _, body := range []string{`{"id":"%s"}`, `{"lead_id": "%s", "name":"sk_live_4fG7hJ2kL9mN0pQ3"}`, `[{"id":"%s`} {
			if got, want := ShortenIDs(fmt.Sprintf(body, value)), fmt.Sprintf(body, plain); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	}
}

package contract_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/schemas/contract"

	"outreach.example/conformance/spec"
)

// breaks reports whether openapi3filter finds something wrong with a request.
func breaks(t *testing.T, op spec.Operation, query url.Values, body any) bool {
	t.Helper()
	doc, err := contract.Load()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	var encoded []byte
	if body != nil {
		encoded, err = json.Marshal(body)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
	}
	request, err := http.NewRequestWithContext(t.Context(), op.Method, "http://localhost"+op.URLPath("01890a5d-ac96-774b-bcce-b302099a0500")+"?"+query.Encode(), bytes.NewReader(encoded))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	request.Header.Set("Authorization", "Bearer key")
	if encoded != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	return doc.Judge(request, encoded).Violations != nil
}

// Another library agrees on which variants the document allows.
func TestVariantsAreWhatTheyClaim(t *testing.T) {
	g, bodies, parameters := NewWithT(t), 0, 0
	for _, op := range spec.Operations() {
		if example := contract.Example(op.ID); example != nil {
			bodies++
			g.Expect(breaks(t, op, nil, example)).To(BeFalse(), op.ID)
			for _, part := range contract.Body(op.ID) {
				with := func(v contract.Variant) bool {
					body := maps.Clone(example)
					body[part.Name] = v.Value
					return breaks(t, op, nil, body)
				}
				g.Expect(slices.ContainsFunc(part.Valid, with)).To(BeFalse(), "%s: valid %s", op.ID, part.Name)
				for _, v := range slices.Concat(part.Invalid, part.Loose) {
					g.Expect(with(v)).To(BeTrue(), "%s: %s with %s", op.ID, part.Name, v.What)
				}
				g.Expect(len(part.Invalid)).To(BeNumerically(">", 1), part.Name)
				absent := maps.Clone(example)
				delete(absent, part.Name)
				g.Expect(breaks(t, op, nil, absent)).To(Equal(part.Required), "%s without %s", op.ID, part.Name)
			}
		}
		for _, part := range contract.Query(op.ID) {
			parameters++
			with := func(v contract.Variant) bool { return breaks(t, op, url.Values{part.Name: {fmt.Sprint(v.Value)}}, nil) }
			g.Expect(slices.ContainsFunc(part.Valid, with)).To(BeFalse(), "%s: valid %s", op.ID, part.Name)
			for _, v := range part.Invalid {
				g.Expect(with(v)).To(BeTrue(), "%s: %s=%v", op.ID, part.Name, v.Value)
			}
		}
	}
	g.Expect([]int{bodies, parameters}).To(Equal([]int{4, 43}))
	for _, part := range contract.Body(spec.CreatePlacementTest) {
		g.Expect(spec.CreateReadOnly).NotTo(ContainElement(part.Name))
		g.Expect(part.Required).To(Equal(slices.Contains(spec.CreateRequired, part.Name)), part.Name)
	}
}

// The generator is systematic: each value of a set, both ends of a range, null.
func TestVariantsAreSystematic(t *testing.T) {
	g := NewWithT(t)
	values := func(all []contract.Variant) string {
		var texts []string
		for _, v := range all {
			encoded, _ := json.Marshal(v.Value)
			texts = append(texts, string(encoded))
		}
		return strings.Join(texts, " ")
	}
	member := func(name string) contract.Part { return contract.Member(spec.CreatePlacementTest, name) }
	for name, want := range map[string][3]string{ // valid, invalid and loose values
		"type":               {`1 2`, `"conformance" {"conformance":7} [[7]] null 0 3 1.5 -3`, `"1" true`},
		"status":             {`1 2 3 null`, `"conformance" {"conformance":7} [[7]] 0 4 1.5 -4`, `"1" true`},
		"not_sending_status": {`"daily_limits_hit" "other" "" null`, `7 true {"conformance":7} [[7]] "conformance" "daily_limits_hitx"`, `"\n"`},
		"text_only":          {`true false null`, `7 "conformance" {"conformance":7} [[7]]`, `"true" "false" 1`},
	} {
		part := member(name)
		g.Expect([3]string{values(part.Valid), values(part.Invalid), values(part.Loose)}).To(Equal(want), name)
	}
	g.Expect(values(member("name").Loose)).To(Equal(`7 true`))
	g.Expect(values(member("schedule").Loose)).To(And(ContainSubstring(`"from":"23:59\n"`), ContainSubstring(`"days":{"1":"true"}`)))
	zones, times := map[any]bool{}, map[any]bool{}
	for _, v := range member("schedule").Valid {
		schedule := v.Value.(map[string]any)
		if zone := schedule["timezone"]; zone != nil {
			zones[zone] = true
		}
		if timing, ok := schedule["timing"].(map[string]any); ok {
			times[timing["from"]] = true
		}
	}
	g.Expect(zones).To(HaveLen(102))
	g.Expect(times).To(And(HaveLen(2), HaveKey("00:00"), HaveKey("23:59")))
	limits := contract.Query(spec.ListMembers)
	limit := limits[slices.IndexFunc(limits, func(p contract.Part) bool { return p.Name == "limit" })]
	g.Expect(values(limit.Valid) + " not " + values(limit.Invalid)).To(Equal("1 100 not 0 101"))
}

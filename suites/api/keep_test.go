package api

import (
	"net/http"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

// Specs share the rows that they keep, and give back what they kept.
func TestSpecsShareTheMemoryOfRows(t *testing.T) {
	g := gomega.NewWithT(t)
	m := newMemory()
	row, other := map[string]any{"id": "a"}, map[string]any{"id": "b"}
	size := schemas.Memory(row)
	first, second := &keeper{of: m}, &keeper{of: m}
	rows, fit := first.takeRows("", []map[string]any{row, row})
	g.Expect(fit).To(gomega.BeTrue())
	g.Expect(rows).To(gomega.HaveLen(2))
	_, fit = second.takeRows("", []map[string]any{row, other})
	g.Expect(fit).To(gomega.BeTrue())
	g.Expect(second.take(100)).To(gomega.BeTrue())
	g.Expect(m.used).To(gomega.Equal(2*size + 100))
	second.release()
	g.Expect(m.used).To(gomega.Equal(size))
	first.release()
	g.Expect(m.used).To(gomega.BeZero())
	g.Expect(m.rows).To(gomega.BeEmpty())
}

// Nothing is kept beyond the bound, whatever it is.
func TestMemoryOfSpecsIsBounded(t *testing.T) {
	g := gomega.NewWithT(t)
	m := newMemory()
	k := &keeper{of: m}
	g.Expect(k.take(maxKept - 1000)).To(gomega.BeTrue())
	g.Expect(k.take(1001)).To(gomega.BeFalse())
	_, fits := k.takeRows("", []map[string]any{{"id": strings.Repeat("x", 1000)}})
	g.Expect(fits).To(gomega.BeFalse())
	_, fits = k.key(paging.Row{Key: strings.Repeat("x", 1000)})
	g.Expect(fits).To(gomega.BeFalse())
	k.release()
	g.Expect(m.used).To(gomega.BeZero())
}

// Of a judged response a spec keeps what it needs: status, some headers, the beginning of
// the body, and the rows, their keys or nothing.
func TestJudgedResponseKeepsWhatSpecsNeed(t *testing.T) {
	rules, err := judge.NewRules()
	if err != nil {
		t.Fatal(err)
	}
	body := `{"items":[{"id":"a"},{"name":"b"}],"next_starting_after":"c","extra":"` + strings.Repeat("x", 10_000) + `"}`
	ex := client.Exchange{Status: http.StatusOK, Body: []byte(body),
		Header: http.Header{"Content-Type": {"application/json"}, "X-Short": {"s"}, "X-Filler": {strings.Repeat("f", keptHeaders)}}}
	for name, tc := range map[string]struct {
		change     func(*Call)
		full       bool // the memory is used up
		rows, keys int
	}{
		"rows":                 {func(*Call) {}, false, 2, 2},
		"keys":                 {func(k *Call) { k.keysOnly = true }, false, 0, 2},
		"nothing":              {func(k *Call) { k.Brief = true }, false, 0, 0},
		"nothing, without any": {func(k *Call) { k.Brief = true }, true, 0, 0},
		"rows, without memory": {func(*Call) {}, true, 0, 0},
		"keys, without memory": {func(k *Call) { k.keysOnly = true }, true, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			env := &Env{Rules: rules, Profile: profile.Embedded()}
			env.examples, env.memory = judge.NewEvidence(), newMemory()
			if tc.full {
				env.memory.used = maxKept
			}
			api := newAPI(t.Context(), env, Spec{Operation: spec.ListLeadLists}, 0)
			k := Call{Operation: spec.MustOperation(spec.ListLeadLists)}
			tc.change(&k)
			r := api.judged(k, ex)
			g.Expect(r.Exchange.Body).To(gomega.HaveLen(reports.MaxBody))
			g.Expect(cap(r.Exchange.Body)).To(gomega.BeNumerically("<", len(body)), "a part of the whole body would keep it")
			g.Expect(r.Exchange.Header).To(gomega.Equal(http.Header{"Content-Type": {"application/json"}, "X-Short": {"s"}}))
			g.Expect(r.OK()).To(gomega.BeTrue())
			g.Expect(r.Cursor()).To(gomega.Equal("c"))
			g.Expect(r.found.Findings).NotTo(gomega.BeEmpty())
			g.Expect(r.found.Body).To(gomega.BeNil())
			g.Expect(r.Rows()).To(gomega.HaveLen(tc.rows))
			g.Expect(r.keyed).To(gomega.HaveLen(tc.keys))
			g.Expect(r.full).To(gomega.Equal(tc.full && !k.Brief))
			g.Expect(env.memory.judging.TryAcquire(maxJudging)).To(gomega.BeTrue(), "the judged response is no longer counted")
		})
	}
}

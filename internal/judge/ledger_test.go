package judge

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

var (
	listStatus   = spec.Pair{Requirement: "STATUS-200", Operation: spec.ListLeadLists}
	phonesStatus = spec.Pair{Requirement: "STATUS-200", Operation: spec.ListPhoneNumbers}
	wrong        = reports.Violation{Spec: "a spec", Pointer: "status", Expected: "200", Actual: "500"}
)

func only(t *testing.T, l *Ledger) reports.Check {
	t.Helper()
	checks := l.Checks()
	if len(checks) != 1 {
		t.Fatalf("%d checks instead of one: %+v", len(checks), checks)
	}
	return checks[0]
}

// For evidence in any order and number: a violation outweighs trouble, trouble outweighs
// assessments, and no evidence is not a pass. Each violation is an assessment.
func TestOutcomes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := NewLedger([]spec.Pair{listStatus})
		var violated, troubled, missed, assessed int
		for range rapid.IntRange(0, 12).Draw(rt, "pieces of evidence") {
			switch rapid.SampledFrom([]string{"violated", "troubled", "missing", "assessed"}).Draw(rt, "evidence") {
			case "violated":
				violated++
				l.Violated(listStatus, wrong)
			case "troubled":
				troubled++
				l.Troubled("a spec", "it broke", listStatus)
			case "missing":
				missed++
				l.Missing(listStatus, "a key")
			case "assessed":
				n := rapid.IntRange(1, 3).Draw(rt, "times")
				assessed += n
				l.Assessed(listStatus, n)
			}
		}
		want := reports.Pass
		switch {
		case violated > 0:
			want = reports.Fail
		case troubled > 0:
			want = reports.Error
		case assessed == 0:
			want = reports.NotAssessed
		}
		check := only(t, l)
		if check.Outcome != want || check.Assessments != max(assessed, violated) || check.ViolationCount != violated {
			rt.Fatalf("%s with %d assessments and %d violations, after %d violations, %d troubles, %d inputs missing and %d assessments",
				check.Outcome, check.Assessments, check.ViolationCount, violated, troubled, missed, assessed)
		}
		if (check.Outcome == reports.NotAssessed) != (len(check.Missing) > 0) {
			rt.Fatalf("%s, and %q missing", check.Outcome, check.Missing)
		}
		if (l.Violations() > 0) != (violated > 0) || (len(l.Troubles()) > 0) != (troubled > 0) {
			rt.Fatalf("%d violations and %d troubles in all", l.Violations(), len(l.Troubles()))
		}
	})
}

func TestViolationsAreKeptInPartAndCountedInFull(t *testing.T) {
	g := NewWithT(t)
	l := NewLedger([]spec.Pair{listStatus, phonesStatus})
	for i := range 12 {
		v := wrong
		v.Actual = fmt.Sprint(500 + i)
		l.Violated(listStatus, v)
	}
	l.Violated(phonesStatus, wrong)
	check := l.Checks()[0]
	g.Expect(check.ViolationCount).To(Equal(12))
	g.Expect(check.Violations).To(HaveLen(maxViolations))
	g.Expect(check.Violations[0].Actual).To(Equal("500"), "the first are kept")
	requirement, _ := spec.FindRequirement("STATUS-200")
	for _, v := range check.Violations {
		g.Expect(v.Statement).To(Equal(requirement.Statement))
		g.Expect(v.Section).To(Equal(requirement.Section))
	}
	g.Expect(l.Violations()).To(Equal(13), "over all pairs")
}

func TestObservationsAreCountedAndSorted(t *testing.T) {
	g := NewWithT(t)
	l := NewLedger([]spec.Pair{listStatus})
	for _, seen := range [][2]string{{spec.ListPhoneNumbers, "b"}, {spec.ListLeadLists, "b"}, {spec.ListLeadLists, "a"}, {spec.ListPhoneNumbers, "b"}} {
		l.Observe(spec.OpenPointDirection, seen[0], seen[1])
	}
	l.Observe(spec.OpenPointCursorKind, spec.ListPhoneNumbers, "c")
	g.Expect(l.Observations()).To(Equal([]reports.Observation{
		{OpenPoint: spec.OpenPointCursorKind, Operation: spec.ListPhoneNumbers, Value: "c", Count: 1},
		{OpenPoint: spec.OpenPointDirection, Operation: spec.ListLeadLists, Value: "a", Count: 1},
		{OpenPoint: spec.OpenPointDirection, Operation: spec.ListLeadLists, Value: "b", Count: 1},
		{OpenPoint: spec.OpenPointDirection, Operation: spec.ListPhoneNumbers, Value: "b", Count: 2},
	}))
}

func TestLedgerIsSafeForConcurrentUse(t *testing.T) {
	g := NewWithT(t)
	l := NewLedger([]spec.Pair{listStatus, phonesStatus})
	var writers sync.WaitGroup
	const writing, times = 8, 50
	for range writing {
		writers.Go(func() {
			for range times {
				l.Assessed(listStatus, 1)
				l.Violated(phonesStatus, wrong)
				l.Missing(listStatus, "a key")
				l.Troubled("a spec", "it broke", listStatus)
				l.Observe(spec.OpenPointDirection, spec.ListLeadLists, "asc")
				l.selected(listStatus)
				_, _, _, _ = l.Checks(), l.Observations(), l.Troubles(), l.Violations()
			}
		})
	}
	writers.Wait()
	checks := l.Checks()
	g.Expect(checks[0].Assessments).To(Equal(writing * times))
	g.Expect(checks[1].ViolationCount).To(Equal(writing * times))
	g.Expect(l.Violations()).To(Equal(writing * times))
	g.Expect(l.Observations()[0].Count).To(Equal(writing * times))
}

// There is one example of each kind, and a number of all that differ only in what is
// particular to them.
func TestExamplesAreOfEachKind(t *testing.T) {
	seen := func(pointer, actual string, count int) reports.Violation {
		return reports.Violation{Pointer: pointer, Actual: actual, Count: count}
	}
	at := func(pointer, actual string) reports.Violation { return seen(pointer, actual, 0) }
	copies := []reports.Violation{at("/items/0/id", "01964f0e-6c1b-7d3a-9b1e-0c5d8f2a7e11"), at("/items/17/id", "7"), at("/items/2/id", "8")}
	for name, tc := range map[string]struct{ came, want []reports.Violation }{
		"copies alone": {copies, []reports.Violation{seen("/items/0/id", copies[0].Actual, 3)}},
		"another place comes late": {append(slices.Clone(copies), at("/items/0/name", "7")),
			[]reports.Violation{seen("/items/0/id", copies[0].Actual, 3), seen("/items/0/name", "7", 1)}},
		"statuses": {[]reports.Violation{at("status", "500 of 1"), at("status", "500 of 2"), at("status", "404 of 3")},
			[]reports.Violation{seen("status", "500 of 1", 2), seen("status", "404 of 3", 1)}},
		"six kinds": {[]reports.Violation{at("/a", ""), at("/b", ""), at("/c", ""), at("/d", ""), at("/e", ""), at("/f", "")},
			[]reports.Violation{seen("/a", "", 1), seen("/b", "", 1), seen("/c", "", 1), seen("/d", "", 1), seen("/e", "", 1)}},
		"other words":      {[]reports.Violation{at("", "rows 1 and 2"), at("", "1 row")}, []reports.Violation{seen("", "rows 1 and 2", 1), seen("", "1 row", 1)}},
		"other names":      {[]reports.Violation{at("/name", `"Ann"`), at("/name", `"Bob"`)}, []reports.Violation{seen("/name", `"Ann"`, 2)}},
		"null, and absent": {[]reports.Violation{at("/name", "null"), at("/name", "absent")}, []reports.Violation{seen("/name", "null", 1), seen("/name", "absent", 1)}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			l, merged, read := NewEvidence(), NewEvidence(), NewEvidence()
			for _, v := range tc.came {
				l.Violated(phonesStatus, v)
			}
			merged.Add(l)
			text, err := json.Marshal(l)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(json.Unmarshal(text, read)).To(Succeed())
			for _, ledger := range []*Ledger{l, merged, read} {
				got := ledger.Check(phonesStatus)
				g.Expect(got.ViolationCount).To(Equal(len(tc.came)))
				for i := range got.Violations {
					got.Violations[i].Statement, got.Violations[i].Section = "", ""
				}
				g.Expect(got.Violations).To(Equal(tc.want))
			}
		})
	}
}

// A rejection counts only if a valid request is not rejected with the same status.
func TestRefusals(t *testing.T) {
	pair := spec.Pair{Requirement: "NOT-FOUND", Operation: spec.GetPlacementTest}
	type valid struct {
		operation string
		status    int
	}
	for _, tc := range []struct {
		name    string
		refused []int
		valid   []valid
		passes  bool
	}{
		{"nothing valid was sent", []int{404}, nil, true},
		{"valid requests are served", []int{404}, []valid{{pair.Operation, 200}}, true},
		{"valid requests fail otherwise", []int{404}, []valid{{pair.Operation, 500}}, true},
		{"some valid requests are refused alike", []int{404}, []valid{{pair.Operation, 404}, {pair.Operation, 200}}, true},
		{"all valid requests are refused alike", []int{404, 404}, []valid{{pair.Operation, 404}}, false},
		{"what is served is another operation", []int{404}, []valid{{pair.Operation, 404}, {spec.ListLeadLists, 200}}, false},
		{"another operation alone is known, and served", []int{404}, []valid{{spec.ListLeadLists, 200}}, true},
		{"another operation alone is known, and refused alike", []int{404}, []valid{{spec.ListLeadLists, 404}}, false},
		{"one of two refusals differs", []int{404, 403}, []valid{{pair.Operation, 404}}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			l := NewLedger([]spec.Pair{pair})
			for _, status := range tc.refused {
				l.Refused(pair, status)
			}
			for _, v := range tc.valid {
				l.Answered(v.operation, v.status)
			}
			check := l.Checks()[0]
			if tc.passes {
				g.Expect(check.Outcome).To(Equal(reports.Pass))
				g.Expect(check.Assessments).To(BeNumerically(">", 0))
				return
			}
			g.Expect(check.Outcome).To(Equal(reports.NotAssessed))
			g.Expect(check.Assessments).To(BeZero())
			g.Expect(check.Missing).To(ConsistOf("a valid request of inbox-placement-tests.get that does not also get 404"))
		})
	}
}

// A status in place of a 429 gets a line that looks for it beyond the limit.
func TestReplayExcess(t *testing.T) {
	key := client.Key{Name: "limited", Token: "T0ken.0f-the~limited_key"}
	line := ReplayExcess(client.Exchange{Request: client.Request{Path: "/api/v2/lead-labels", Key: key}, Status: 503})
	for _, has := range []string{"for n in 1 2 3", `"$OUTREACH_URL/api/v2/lead-labels#[1-50]"`, "HTTP/[0-9.]* 503", "$OUTREACH_KEY_LIMITED"} {
		if !strings.Contains(line, has) {
			t.Errorf("%q lacks %q", line, has)
		}
	}
}

// A rate-limit violation gets a line that reaches the limit; any other gets only the request.
func TestReplay(t *testing.T) {
	key := client.Key{Name: "limited", Token: "T0ken.0f-the~limited_key"}
	read := client.Request{Path: "/api/v2/lead-labels", Key: key}
	create := client.Request{Method: "POST", Path: "/api/v2/inbox-placement-tests", Body: []byte(`{"name":"it's"}`), Key: key}
	const drives, lists = "for n in 1 2 3", `"$OUTREACH_URL/api/v2/lead-lists?limit=1#[1-50]"`
	for name, tc := range map[string]struct {
		requirement string
		ex          client.Exchange
		has, lacks  []string
	}{
		"not of a limit":         {"STATUS-200", client.Exchange{Request: read, Status: 503}, nil, []string{drives}},
		"a body of 429":          {"ERROR-429-MESSAGE", client.Exchange{Request: read, Status: 429}, []string{drives, `"$OUTREACH_URL/api/v2/lead-labels#[1-50]"`}, []string{lists, "sleep"}},
		"a body of a write":      {"ERROR-429-MESSAGE", client.Exchange{Request: create, Status: 429}, []string{drives, lists, "; curl -i -X POST "}, []string{"sleep", "placement-tests#"}},
		"served beyond a limit":  {"RATE-429", client.Exchange{Request: read, Status: 200}, []string{drives, `"$OUTREACH_URL/api/v2/lead-labels#[1-50]"`}, []string{"sleep"}},
		"refused for ever":       {"RATE-RESUMES", client.Exchange{Request: read, Status: 429}, []string{drives, lists, "; sleep 120; curl -i "}, []string{"lead-labels#"}},
		"refused in another way": {"RATE-RESUMES", client.Exchange{Request: read, Status: 403}, []string{drives, lists, "; sleep 120; curl -i "}, []string{"lead-labels#"}},
	} {
		line := Replay(tc.requirement, tc.ex)
		for _, has := range append(tc.has, "$OUTREACH_KEY_LIMITED") {
			if !strings.Contains(line, has) {
				t.Errorf("%s: %q lacks %q", name, line, has)
			}
		}
		for _, lacks := range append(tc.lacks, key.Token) {
			if strings.Contains(line, lacks) {
				t.Errorf("%s: %q has %q", name, line, lacks)
			}
		}
	}
}

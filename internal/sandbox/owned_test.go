package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/spec"
)

const (
	run   = "01890000-0000-7000-8000-000000000001"
	name  = "conformance0123456789ab01890000000070008000000000000001"
	other = "conformance-of-somebody-else"
)

var startTests = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// id returns a version 7 id of that time after the start.
func id(after time.Duration, n int) string {
	ms := startTests.Add(after).UnixMilli()
	hex := fmt.Sprintf("%012x", ms)
	return fmt.Sprintf("%s-%s-7000-8000-%012x", hex[:8], hex[8:], n)
}

// server shows tests in a list and in gets.
type server struct {
	listed, got map[string]string // names by id; a get of another id answers 404
	list        int               // status of the list; 0 means 200
	ascending   bool              // it ignores sort_order
	requests    int
}

func (s *server) send(_ context.Context, r client.Request) client.Exchange {
	s.requests++
	if r.Operation == spec.GetPlacementTest {
		one := r.Path[strings.LastIndex(r.Path, "/")+1:]
		shown, ok := s.got[one]
		if !ok {
			return client.Exchange{Request: r, Status: http.StatusNotFound, Body: []byte("{}")}
		}
		return client.Exchange{Request: r, Status: http.StatusOK, Body: encoded(map[string]any{"id": one, "name": shown})}
	}
	if s.list != 0 {
		return client.Exchange{Request: r, Status: s.list}
	}
	var ids []string
	for one := range s.listed {
		ids = append(ids, one)
	}
	slices.Sort(ids)
	if !s.ascending {
		slices.Reverse(ids)
	}
	if after := r.Query.Get("starting_after"); after != "" {
		ids = ids[slices.Index(ids, after)+1:]
	}
	page := map[string]any{"items": []any{}}
	if len(ids) > spec.MaxLimit {
		ids = ids[:spec.MaxLimit]
		page["next_starting_after"] = ids[spec.MaxLimit-1]
	}
	items := []any{}
	for _, one := range ids {
		items = append(items, map[string]any{"id": one, "name": s.listed[one]})
	}
	page["items"] = items
	return client.Exchange{Request: r, Status: http.StatusOK, Body: encoded(page)}
}

func encoded(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// many returns the names of so many tests from before the start.
func many(n int) map[string]string {
	rows := map[string]string{}
	for i := range n {
		rows[id(-time.Hour, i)] = other
	}
	return rows
}

func TestProve(t *testing.T) {
	young, old, v4 := id(time.Second, 1), id(-time.Hour, 1), "0b7d39c2-6f02-4d43-9c41-1f7f0f6f6d11"
	const rows = 3
	for _, tc := range []struct {
		name   string
		before server            // when the run looks first
		listed map[string]string // later
		got    map[string]string
		id     string
		also   string // the mark of another creation that received the id
		want   State
	}{
		{name: "a get shows the name", id: young, got: map[string]string{young: name}, want: Own},
		{name: "an id of another version", id: v4, got: map[string]string{v4: name}, want: Own},
		{name: "the get shows another name, the list ours", id: young, got: map[string]string{young: other}, listed: map[string]string{young: name}, want: Own},
		{name: "the get finds nothing, the list does", id: young, listed: map[string]string{young: name}, want: Own},
		{name: "nothing shows it", id: young, want: Gone},
		{name: "a get shows another test", id: young, got: map[string]string{young: other}, want: Foreign},
		{name: "both show another test", id: young, got: map[string]string{young: other}, listed: map[string]string{young: other}, want: Foreign},
		{name: "it was listed before", before: server{listed: many(rows)}, id: old, got: map[string]string{old: name}, want: Foreign},
		{name: "it was listed before, in capitals", before: server{listed: many(rows)}, id: strings.ToUpper(old), got: map[string]string{strings.ToUpper(old): name}, want: Foreign},
		{name: "an older id without its dashes", before: server{listed: many(rows)}, id: strings.ReplaceAll(old, "-", ""), got: map[string]string{strings.ReplaceAll(old, "-", ""): name}, want: Foreign},
		{name: "an older id in braces", before: server{listed: many(rows)}, id: "{" + old + "}", got: map[string]string{"{" + old + "}": name}, want: Foreign},
		{name: "an older id as a URN", before: server{listed: many(rows)}, id: "urn:uuid:" + old, got: map[string]string{"urn:uuid:" + old: name}, want: Foreign},
		{name: "an older id with a space", before: server{listed: many(rows)}, id: old + " ", got: map[string]string{old + " ": name}, want: Foreign},
		{name: "an older id with an invisible character", before: server{listed: many(rows)}, id: old + "\u200b", got: map[string]string{old + "\u200b": name}, want: Foreign},
		{name: "an older id with a query", before: server{listed: many(rows)}, id: old + "?x", got: map[string]string{old + "?x": name}, want: Foreign},
		{name: "a path to an older id", before: server{listed: many(rows)}, id: "/" + old, got: map[string]string{"/" + old: name}, want: Foreign},
		{name: "an id that is no UUID", id: "test-17", got: map[string]string{"test-17": name}, want: Own},
		{name: "older than its creation and than others, though no list had shown it", before: server{listed: many(rows)}, id: id(-2*time.Hour, 7), got: map[string]string{id(-2*time.Hour, 7): name}, want: Foreign},
		{name: "another creation received it", id: young, got: map[string]string{young: name}, also: other, want: Foreign},
		{name: "the same request received it again", id: young, got: map[string]string{young: name}, also: name, want: Own},

		{name: "newer than a long list", before: server{listed: many(1200)}, id: young, got: map[string]string{young: name}, want: Own},
		{name: "in the part of a long list that was not read", before: server{listed: many(1200)}, id: id(-time.Hour, 0), got: map[string]string{id(-time.Hour, 0): name}, want: Foreign},
		{name: "of another version, with a long list", before: server{listed: many(1200)}, id: v4, got: map[string]string{v4: name}, want: Foreign},
		{name: "newer than a long list in the wrong order", before: server{listed: many(1200), ascending: true}, id: young, got: map[string]string{young: name}, want: Own},
		{name: "older than a long list in the wrong order", before: server{listed: many(1200), ascending: true}, id: id(-2*time.Hour, 0), got: map[string]string{id(-2*time.Hour, 0): name}, want: Foreign},
		{name: "without a list", before: server{list: 500}, id: young, got: map[string]string{young: name}, want: Own},
		{name: "old, without a list", before: server{list: 500}, id: old, got: map[string]string{old: name}, want: Foreign},
		{name: "of another version, without a list", before: server{list: 500}, id: v4, got: map[string]string{v4: name}, want: Foreign},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			s := tc.before
			tests := NewTests(s.send, profile.Embedded(), client.Key{})
			g.Expect(tests.LookBefore(t.Context(), nil)).To(Succeed())
			looked := s.requests
			g.Expect(tests.LookBefore(t.Context(), nil)).To(Succeed())
			g.Expect(s.requests).To(Equal(looked), "once")
			g.Expect(looked).To(BeNumerically("<=", pagesBefore))
			tests.Received(tc.id, Creation{Mark{Name: name}, startTests})
			if tc.also != "" {
				tests.Received(strings.ToUpper(tc.id), Creation{Mark{Name: tc.also}, startTests})
				tests.Received(tc.id, Creation{Mark{Name: name}, startTests}) // settles no dispute
			}
			s.got = tc.got
			if s.list == 0 {
				s.listed = tc.listed
			}
			g.Expect(tests.prove(t.Context(), tc.id)).To(HaveField("State", tc.want))
		})
	}
}

func TestNothingIsOwnBeforeTheFirstLook(t *testing.T) {
	g := NewWithT(t)
	young := id(0, 1)
	s := server{got: map[string]string{young: name}}
	tests := NewTests(s.send, profile.Embedded(), client.Key{})
	tests.Received(young, Creation{Mark{Name: name}, startTests})
	g.Expect(tests.prove(t.Context(), young)).To(HaveField("State", Foreign))
	g.Expect(tests.prove(t.Context(), id(0, 2))).To(HaveField("State", Unproven))
}

// A look for the tests of the run ends at the first page of older ones.
func TestNewestReadsNoOlderPages(t *testing.T) {
	g := NewWithT(t)
	s := server{listed: many(1200)}
	tests := NewTests(s.send, profile.Embedded(), client.Key{})
	g.Expect(tests.LookBefore(t.Context(), nil)).To(Succeed())
	g.Expect(tests.NewestBefore()).To(Equal(id(-time.Hour, 1199)))
	for i := range 150 {
		s.listed[id(time.Second, i)] = name
	}
	s.requests = 0
	listed, err := tests.ofRun(t.Context(), run)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.requests).To(Equal(2))
	g.Expect(listed).To(HaveLen(150))
	g.Expect(listed[0]).To(Equal(Listed{ID: id(time.Second, 149), Text: name}))
}

func TestMarks(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Word(run, 0x0123456789ab)).To(Equal(name))
	subject := Word(run, 1)
	g.Expect(MarkOf(map[string]any{"name": name, "email_subject": "Placement check " + subject})).To(Equal(Mark{name, subject}))
	g.Expect(MarkOf(map[string]any{"name": " " + strings.ToUpper(name) + " ", "email_subject": 7})).To(Equal(Mark{Name: name}))
	for _, others := range []string{"", "conformance", "a copy of " + name, name + " (copy)", name[12:], "Placement check of the spring campaign"} {
		g.Expect(MarkOf(map[string]any{"name": others, "email_subject": others})).To(Equal(Mark{}), others)
	}
	row := map[string]any{"id": "a", "name": "odd", "email_subject": "Placement check " + subject}
	g.Expect(Mark{"", subject}.On(row)).To(BeTrue())
	g.Expect(Mark{name, subject}.On(row)).To(BeTrue(), "the name may have to be another one")
	g.Expect(Mark{Name: name}.On(row)).To(BeFalse())
	g.Expect(Mark{}.On(row)).To(BeTrue(), "only the id shows which it is")
	g.Expect(Mark{}.On(nil)).To(BeFalse())
}

// The target's clock may be hours away from ours: it alone tells the age of a row.
func TestTheTargetsOwnClock(t *testing.T) {
	for _, skew := range []time.Duration{-61 * time.Minute, 0, 3 * time.Hour} {
		for listed, before := range map[string]map[string]string{"a short list": {id(-90*24*time.Hour, 0): other}, "no rows": {}, "a long list": {}} {
			g := NewWithT(t)
			s := server{listed: before, got: map[string]string{}}
			if listed == "a long list" {
				for i := range 1200 { // rows of the same clock
					s.listed[id(skew-time.Hour, i)] = other
				}
			}
			tests := NewTests(s.send, profile.Embedded(), client.Key{})
			g.Expect(tests.LookBefore(t.Context(), nil)).To(Succeed())
			for n, after := range []time.Duration{0, time.Minute, 5 * time.Hour} {
				young := id(after+skew, n)
				s.got[young] = name
				tests.Received(young, Creation{Mark{Name: name}, startTests.Add(after)})
				g.Expect(tests.prove(t.Context(), young)).To(HaveField("State", Own), "%s, %s, %s", skew, listed, after)
			}
			hidden := id(skew-2*time.Hour, 7) // no list had shown it
			s.got[hidden] = name
			tests.Received(hidden, Creation{Mark{Name: name}, startTests})
			g.Expect(tests.prove(t.Context(), hidden)).To(HaveField("State", Foreign), "%s, %s", skew, listed)
		}
	}
}

// Cleanup knows no more than the run's id, the newest row before it, and the rows.
func TestRowsFromBeforeTheRun(t *testing.T) {
	began := time.Now().Add(-time.Minute)
	v7 := func(at time.Time, n int) string { return id(at.Sub(startTests), n) }
	run := v7(began, 1)
	for _, skew := range []time.Duration{-61 * time.Minute, 0, 3 * time.Hour} {
		at := func(t time.Time) string { return v7(t.Add(skew), 2) }
		young, old, odd := at(time.Now()), at(began.Add(-2*time.Hour)), "{"+v7(time.Now(), 1)+"}"
		for _, tc := range []struct {
			run, after string
			own        []string
		}{
			{run, "", []string{young}},
			{run, at(began), []string{young}},
			{run, v7(time.Now().Add(skew).Add(time.Second), 3), nil},
			{"no-run", "", nil},
		} {
			g := NewWithT(t)
			s := server{listed: map[string]string{young: Word(tc.run, 1), old: Word(tc.run, 1), odd: Word(tc.run, 1), "17": Word(tc.run, 1), at(time.Now().Add(-time.Second)): "theirs"}}
			tests := NewTests(s.send, profile.Embedded(), client.Key{})
			tests.lookAfter(tc.after)
			listed, err := tests.ofRun(t.Context(), tc.run)
			g.Expect(err).NotTo(HaveOccurred())
			var own []string
			for _, one := range listed {
				if one.Foreign == "" {
					own = append(own, one.ID)
				}
			}
			g.Expect(own).To(Equal(tc.own), "%s, %+v", skew, tc)
		}
	}
}

// The names of an ordinary run show nothing to a server, and who knows the secret tells them from all
// others.
func TestOrdinaryNames(t *testing.T) {
	g := NewWithT(t)
	ours, another := uuid.NewString(), uuid.NewString()
	NameOrdinary(ours, "a secret")
	word := Word(ours, 7)
	g.Expect(word).To(MatchRegexp(`^[a-z2-7]{26}$`))
	g.Expect(Word(ours, 8)).NotTo(Equal(word))
	g.Expect(runIn(strings.ToUpper(word) + " ")).To(Equal(bare(ours)))
	g.Expect(MarkOf(map[string]any{"email_subject": "Placement check " + word})).To(Equal(Mark{Subject: word}))
	for _, foreign := range []string{word[1:] + "a", word + "a", "a" + word, strings.Repeat("a", 26), "Welcome"} {
		g.Expect(runIn(foreign)).To(BeEmpty(), "%s", foreign)
	}
	NameOrdinary(another, "a secret")
	g.Expect(runIn(word)).To(Equal(bare(ours)), "each run has names of its own")
}

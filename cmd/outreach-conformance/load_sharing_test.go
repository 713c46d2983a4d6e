package main

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"
)

// Settings that contradict each other are errors that name both.
func TestSettingsThatContradictEachOther(t *testing.T) {
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	soon := now.Add(10 * time.Second).Format(time.RFC3339)
	steady := []scenario.Scenario{{Name: "lists", Kind: scenario.Steady}}
	walk := []scenario.Scenario{{Name: "walk", Kind: scenario.Walk}}
	server := runFlags{target: "http://127.0.0.1:8025"}
	sharded := func(change func(*loadFlags)) loadFlags {
		f := loadFlags{runFlags: server, shard: "2/8", startAt: soon}
		f.seed = 1
		change(&f)
		return f
	}
	for name, tc := range map[string]struct {
		flags     loadFlags
		scenarios []scenario.Scenario
		says      string // the beginning of the error; empty for none
	}{
		"nothing":                  {loadFlags{runFlags: server}, walk, ""},
		"a shard":                  {sharded(func(*loadFlags) {}), steady, ""},
		"an adaptive shard":        {sharded(func(*loadFlags) {}), walk, "--shard: scenario walk is adaptive and cannot be sharded"},
		"a shard without start":    {sharded(func(f *loadFlags) { f.startAt = "" }), steady, "--shard needs --start-at: the same time for all shards, at least 5s ahead"},
		"a shard's own start":      {sharded(func(f *loadFlags) { f.startAt = "+10s" }), steady, "--start-at +10s: relative to the start of each shard"},
		"a start too soon":         {sharded(func(f *loadFlags) { f.startAt = now.Add(4 * time.Second).Format(time.RFC3339) }), steady, "--start-at 2026-01-31T12:00:04Z: only 4s ahead, want at least 5s"},
		"a shard's own target":     {sharded(func(f *loadFlags) { f.target = embeddedTarget }), steady, "--shard needs a --target that all shards reach"},
		"a shard's own seed":       {sharded(func(f *loadFlags) { f.seed = 0 }), steady, "--shard needs --seed: the same for all shards"},
		"an adaptive start":        {loadFlags{runFlags: server, startAt: "+5s"}, walk, "--start-at: scenario walk is adaptive and starts at once"},
		"a part of the whole":      {loadFlags{runFlags: server, printPart: true}, steady, "--print-part needs --shard"},
		"pairs of one target":      {loadFlags{runFlags: server, given: map[string]bool{"pairs": true}}, steady, "--pairs needs --against"},
		"a comparison":             {loadFlags{runFlags: server, scenarios: []string{"one"}, against: "http://127.0.0.1:8026", pairs: 12}, steady, ""},
		"a comparison later":       {loadFlags{runFlags: server, scenarios: []string{"one"}, against: "http://127.0.0.1:8026", pairs: 12, startAt: "+5s"}, steady, "--against and --start-at exclude each other"},
		"a comparison of two":      {loadFlags{runFlags: server, scenarios: []string{"one"}, against: "http://127.0.0.1:8026", pairs: 12, baseline: "load.json"}, steady, "--against and --baseline exclude each other"},
		"a comparison of a shard":  {sharded(func(f *loadFlags) { f.against = "http://127.0.0.1:8026" }), steady, "--against and --start-at exclude each other\n--against and --shard exclude each other"},
		"a comparison of all":      {loadFlags{runFlags: server, against: "http://127.0.0.1:8026", pairs: 12}, steady, "--against compares one scenario"},
		"a comparison of walks":    {loadFlags{runFlags: server, scenarios: []string{"one"}, against: "http://127.0.0.1:8026", pairs: 12}, walk, "--against needs a scenario of kind steady, such as mixed; walk is of kind walk"},
		"a comparison that is few": {loadFlags{runFlags: server, scenarios: []string{"one"}, against: "http://127.0.0.1:8026", pairs: 2}, steady, "--pairs 2: want "},
		"two errors":               {loadFlags{runFlags: server, shard: "9/8", startAt: "now"}, steady, "--shard 9/8: want the form 3/8 (the third of eight), or index:2/8 to count from 0\n--start-at now: want a time like "},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, _, err := tc.flags.sharing(tc.scenarios, now)
			if tc.says == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(HavePrefix(tc.says)))
		})
	}
}

func TestParseShardAndStart(t *testing.T) {
	g := NewWithT(t)
	for text, want := range map[string]measure.Shard{"": {}, "3/8": {Index: 2, Of: 8}, "index:2/8": {Index: 2, Of: 8}, "1/1": {Of: 1}} {
		g.Expect(parseShard(text)).To(Equal(want), text)
	}
	for _, text := range []string{"0/8", "9/8", "index:8/8", "3", "3/0", "1/10001", "a/b"} {
		_, err := parseShard(text)
		g.Expect(err).To(HaveOccurred(), text)
	}
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{"": {}, "+5s": now.Add(5 * time.Second), "2026-01-31T13:00:00+01:00": now} {
		at, err := parseStart(text, now)
		g.Expect(err).NotTo(HaveOccurred(), text)
		g.Expect(at).To(BeTemporally("==", want), text)
	}
	for text, says := range map[string]string{"+-5s": "want a time like", "12:00": "want a time like", "2026-01-31T11:59:59Z": "in the past", "+25h": "more than 24 hours ahead"} {
		_, err := parseStart(text, now)
		g.Expect(err).To(MatchError(ContainSubstring(says)), text)
	}
}

// Whatever --shard and --start-at say, they are read or refused.
func FuzzShardAndStart(f *testing.F) {
	for _, seed := range []string{"", "3/8", "index:2/8", "0/1", "9999999999/1", "+5s", "+1h/", "2026-01-31T12:00:00Z", "+9999h"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := parseShard(text); err == nil && text != "" && (s.Index < 0 || s.Index >= s.Of) {
			t.Errorf("%q is the shard %+v", text, s)
		}
		now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
		if at, err := parseStart(text, now); err == nil && text != "" && (at.Before(now) || at.Sub(now) > 24*time.Hour) {
			t.Errorf("%q is %s", text, at)
		}
	})
}

package loadtest_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/loadtest"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"
)

// Settings that contradict each other are errors that name both.
func TestSettingsThatContradictEachOther(t *testing.T) {
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	soon := now.Add(10 * time.Second).Format(time.RFC3339)
	steady := []scenario.Scenario{{Name: "lists", Kind: scenario.Steady}}
	walk := []scenario.Scenario{{Name: "walk", Kind: scenario.Walk}}
	sharded := func(change func(*loadtest.Settings)) loadtest.Settings {
		s := loadtest.Settings{Scenarios: steady, Shard: "2/8", StartAt: soon, Seed: 1}
		change(&s)
		return s
	}
	for name, tc := range map[string]struct {
		settings loadtest.Settings
		says     string // the beginning of the error; empty for none
	}{
		"nothing":                  {loadtest.Settings{Scenarios: walk}, ""},
		"a shard":                  {sharded(func(*loadtest.Settings) {}), ""},
		"an adaptive shard":        {sharded(func(s *loadtest.Settings) { s.Scenarios = walk }), "--shard: scenario walk is adaptive and cannot be sharded"},
		"a shard without start":    {sharded(func(s *loadtest.Settings) { s.StartAt = "" }), "--shard needs --start-at: the same time for all shards, at least 5s ahead"},
		"a shard's own start":      {sharded(func(s *loadtest.Settings) { s.StartAt = "+10s" }), "--start-at +10s: relative to the start of each shard"},
		"a start too soon":         {sharded(func(s *loadtest.Settings) { s.StartAt = now.Add(4 * time.Second).Format(time.RFC3339) }), "--start-at 2026-01-31T12:00:04Z: only 4s ahead, want at least 5s"},
		"a shard's own target":     {sharded(func(s *loadtest.Settings) { s.Embedded = true }), "--shard needs a --target that all shards reach"},
		"a shard's own seed":       {sharded(func(s *loadtest.Settings) { s.Seed = 0 }), "--shard needs --seed: the same for all shards"},
		"an adaptive start":        {loadtest.Settings{Scenarios: walk, StartAt: "+5s"}, "--start-at: scenario walk is adaptive and starts at once"},
		"a part of the whole":      {loadtest.Settings{Scenarios: steady, PrintPart: true}, "--print-part needs --shard"},
		"pairs of one target":      {loadtest.Settings{Scenarios: steady, PairsGiven: true}, "--pairs needs --against"},
		"a comparison":             {loadtest.Settings{Scenarios: steady, Named: 1, Against: true, Pairs: 12}, ""},
		"a comparison later":       {loadtest.Settings{Scenarios: steady, Named: 1, Against: true, Pairs: 12, StartAt: "+5s"}, "--against and --start-at exclude each other"},
		"a comparison of two":      {loadtest.Settings{Scenarios: steady, Named: 1, Against: true, Pairs: 12, Baseline: true}, "--against and --baseline exclude each other"},
		"a comparison of a shard":  {sharded(func(s *loadtest.Settings) { s.Against = true }), "--against and --start-at exclude each other\n--against and --shard exclude each other"},
		"a comparison of all":      {loadtest.Settings{Scenarios: steady, Against: true, Pairs: 12}, "--against compares one scenario"},
		"a comparison of walks":    {loadtest.Settings{Scenarios: walk, Named: 1, Against: true, Pairs: 12}, "--against needs a scenario of kind steady, such as mixed; walk is of kind walk"},
		"a comparison that is few": {loadtest.Settings{Scenarios: steady, Named: 1, Against: true, Pairs: 2}, "--pairs 2: want "},
		"two errors":               {loadtest.Settings{Scenarios: steady, Shard: "9/8", StartAt: "now"}, "--shard 9/8: want the form 3/8 (the third of eight), or index:2/8 to count from 0\n--start-at now: want a time like "},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, _, err := tc.settings.Check(now)
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
		g.Expect(loadtest.ParseShard(text)).To(Equal(want), text)
	}
	for _, text := range []string{"0/8", "9/8", "index:8/8", "3", "3/0", "1/10001", "a/b"} {
		_, err := loadtest.ParseShard(text)
		g.Expect(err).To(HaveOccurred(), text)
	}
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{"": {}, "+5s": now.Add(5 * time.Second), "2026-01-31T13:00:00+01:00": now} {
		at, err := loadtest.ParseStart(text, now)
		g.Expect(err).NotTo(HaveOccurred(), text)
		g.Expect(at).To(BeTemporally("==", want), text)
	}
	for text, says := range map[string]string{"+-5s": "want a time like", "12:00": "want a time like", "2026-01-31T11:59:59Z": "in the past", "+25h": "more than 24 hours ahead"} {
		_, err := loadtest.ParseStart(text, now)
		g.Expect(err).To(MatchError(ContainSubstring(says)), text)
	}
}

// Whatever --shard and --start-at say, they are read or refused.
func FuzzShardAndStart(f *testing.F) {
	for _, seed := range []string{"", "3/8", "index:2/8", "0/1", "9999999999/1", "+5s", "+1h/", "2026-01-31T12:00:00Z", "+9999h"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := loadtest.ParseShard(text); err == nil && text != "" && (s.Index < 0 || s.Index >= s.Of) {
			t.Errorf("%q is the shard %+v", text, s)
		}
		now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
		if at, err := loadtest.ParseStart(text, now); err == nil && text != "" && (at.Before(now) || at.Sub(now) > 24*time.Hour) {
			t.Errorf("%q is %s", text, at)
		}
	})
}

package lock

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/internal/paging"
)

func TestLocksOfOthers(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	row := func(id, name string, age time.Duration) map[string]any {
		return map[string]any{"id": id, "name": name, "timestamp_created": now.Add(-age).Format(time.RFC3339Nano)}
	}
	ours := test{id: "a"}
	for _, tc := range []struct {
		name string
		mine test
		run  string // the name that several processes share; empty for none
		item map[string]any
		want string
	}{
		{"another run's", ours, "", row("b", Prefix+"2", time.Second), Prefix + "2"},
		{"another run's, before there is one of ours", test{}, "", row("b", Prefix+"2", time.Second), Prefix + "2"},
		{"by a clock ahead of ours", ours, "", row("b", Prefix+"2", -time.Minute), Prefix + "2"},
		{"just not too old", ours, "", row("b", Prefix+"2", MaxAge-time.Second), Prefix + "2"},
		{"of no known age", ours, "", map[string]any{"name": Prefix + "2"}, Prefix + "2"},
		{"left by a killed run", ours, "", row("b", Prefix+"2", MaxAge), ""},
		{"left by a killed run whose journal is there", ours, "", row("b", Prefix+"01890000000070008000000000000003", 0), ""},
		{"our own", ours, Prefix + "1", row("a", Prefix+"1", 0), ""},
		{"our own, with another id", ours, Prefix + "1", row("b", Prefix+"1", 0), ""},
		{"of another process of the same run, while we have none", test{}, Prefix + "4", row("b", Prefix+"4 f", 0), ""},
		{"of a run whose name begins like ours", test{}, Prefix + "4", row("b", Prefix+"44", 0), Prefix + "44"},
		{"our own, renamed", ours, "", row("a", Prefix+"9", 0), ""},
		{"no lock", ours, "", row("b", "conformance", 0), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			l := Lock{test: tc.mine, clock: test{created: now, shown: now}, Name: tc.run, LeftBehind: []string{"01890000-0000-7000-8000-000000000003"}}
			g.Expect(l.others([]paging.Row{{Value: row("c", "test", 0)}, {Value: tc.item}}, now)).To(Equal(tc.want))
		})
	}
}

// Without the target's clock, a lock is stale once it was not renewed while the run
// looked at it.
func TestLockThatNobodyRenews(t *testing.T) {
	g := NewWithT(t)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	const name = Prefix + "01890000000070008000000000000002"
	row := func(id string) []paging.Row {
		return []paging.Row{{Key: id, Value: map[string]any{"id": id, "name": name, "timestamp_created": "yesterday"}}}
	}
	var l Lock
	g.Expect(l.others(row("a"), now)).To(Equal(name))
	g.Expect(l.others(row("a"), now.Add(MaxAge-1))).To(Equal(name))
	g.Expect(l.others(row("b"), now.Add(MaxAge))).To(Equal(name), "it was renewed")
	g.Expect(l.Stale()).To(BeEmpty())
	g.Expect(l.others(row("b"), now.Add(2*MaxAge))).To(BeEmpty())
	g.Expect(l.Stale()).To(ConsistOf(Stale{"b", name}))
}

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
	ours := test{id: "a", name: Prefix + "1"}
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
		{"just not too old", ours, "", row("b", Prefix+"2", maxAge-time.Second), Prefix + "2"},
		{"of no known age", ours, "", map[string]any{"name": Prefix + "2"}, Prefix + "2"},
		{"left by a killed run", ours, "", row("b", Prefix+"2", maxAge), ""},
		{"left by a killed run whose journal is there", ours, "", row("b", Prefix+"3", 0), ""},
		{"our own", ours, "", row("a", Prefix+"1", 0), ""},
		{"our own, with another id", ours, "", row("b", Prefix+"1", 0), ""},
		{"of another process of the same run, while we have none", test{}, Prefix + "4", row("b", Prefix+"4", 0), ""},
		{"our own, renamed", ours, "", row("a", Prefix+"9", 0), ""},
		{"no lock", ours, "", row("b", "conformance", 0), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			l := Lock{test: tc.mine, Name: tc.run, LeftBehind: []string{Prefix + "3"}}
			g.Expect(l.others([]paging.Row{{Value: row("c", "test", 0)}, {Value: tc.item}}, now)).To(Equal(tc.want))
		})
	}
}

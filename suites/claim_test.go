package suites

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestClaimsOfOthers(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	row := func(id, name string, age time.Duration) any {
		return map[string]any{"id": id, "name": name, "timestamp_created": timestamp(now.Add(-age))}
	}
	ours := mark{id: "a", name: claimPrefix + "1"}
	for _, tc := range []struct {
		name string
		mine mark
		item any
		want string
	}{
		{"another run's", ours, row("b", claimPrefix+"2", time.Second), claimPrefix + "2"},
		{"another run's, before there is one of ours", mark{}, row("b", claimPrefix+"2", time.Second), claimPrefix + "2"},
		{"by a clock ahead of ours", ours, row("b", claimPrefix+"2", -time.Minute), claimPrefix + "2"},
		{"just not too old", ours, row("b", claimPrefix+"2", claimLasts-time.Second), claimPrefix + "2"},
		{"of no known age", ours, map[string]any{"name": claimPrefix + "2"}, claimPrefix + "2"},
		{"left by a killed run", ours, row("b", claimPrefix+"2", claimLasts), ""},
		{"left by a killed run whose journal is there", ours, row("b", claimPrefix+"3", 0), ""},
		{"our own", ours, row("a", claimPrefix+"1", 0), ""},
		{"our own, with another id", ours, row("b", claimPrefix+"1", 0), ""},
		{"our own, renamed", ours, row("a", claimPrefix+"9", 0), ""},
		{"no claim", ours, row("b", "conformance", 0), ""},
		{"no object", ours, "text", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			name, found := tc.mine.others([]any{row("c", "test", 0), tc.item}, now, []string{claimPrefix + "3"})
			g.Expect(name).To(Equal(tc.want))
			g.Expect(found).To(Equal(tc.want != ""))
		})
	}
}

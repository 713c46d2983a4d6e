package suites

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// Specs that use the same thing run one after the other, also those that use several
// things. Others run beside them.
func TestSpecsThatUseTheSameThingDoNotOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		const each = time.Second
		using := map[string]*atomic.Int32{"accounts": {}, "limit": {}}
		one := func(title string, things ...string) Spec {
			return Spec{Operation: spec.MoveAccounts, Title: title, alone: things, body: func(*API) {
				for _, what := range things {
					if using[what].Add(1) > 1 {
						t.Errorf("%s: another spec uses %s", title, what)
					}
				}
				time.Sleep(each)
				for _, what := range things {
					using[what].Add(-1)
				}
			}}
		}
		env := &Env{Profile: profile.Embedded()}
		env.begin()
		began := time.Now()
		a := start(t.Context(), env, []Spec{one("both", "accounts", "limit"), one("an account", "accounts"),
			one("the limit", "limit"), one("the limit again", "limit"), one("nothing")}, Plan{})
		a.waitForAll()
		a.close()
		g.Expect(time.Since(began)).To(gomega.Equal(3*each), "as long as the three that use the limit")
	})
}

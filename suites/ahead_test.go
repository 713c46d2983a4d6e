package suites

import (
	"sync"
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

// An outer spec begins before those that use the same thing, lets them run in its middle,
// and ends after them, wherever it stands in the order. So does one whose body ends early,
// but for the end. Its time limit begins anew in the middle.
func TestAnOuterSpecLiesAroundTheOthers(t *testing.T) {
	for name, early := range map[string]bool{"whole": false, "ends before the middle": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := gomega.NewWithT(t)
				var mu sync.Mutex
				var order []string
				note := func(what string) {
					mu.Lock()
					defer mu.Unlock()
					order = append(order, what)
				}
				inner := func(title string, things ...string) Spec {
					return Spec{Operation: spec.MoveAccounts, Title: title, alone: things, body: func(*API) {
						time.Sleep(time.Minute)
						note(title)
					}}
				}
				var cut error
				outer := Spec{Operation: spec.MoveAccounts, Title: "outer", alone: []string{"limit"}, outer: true, body: func(api *API) {
					note("begins")
					if early {
						return
					}
					api.letOthersRun()
					time.Sleep(50 * time.Second)
					cut = api.ctx.Err()
					note("ends")
				}}
				env := &Env{Profile: profile.Embedded(), SpecTimeout: 61 * time.Second}
				env.begin()
				a := start(t.Context(), env, []Spec{inner("both", "accounts", "limit"), inner("the limit", "limit"), outer}, Plan{})
				a.waitForAll()
				a.close()
				want := []string{"begins", "both", "the limit"}
				if !early {
					want = append(want, "ends")
				}
				g.Expect(order).To(gomega.Equal(want))
				g.Expect(cut).NotTo(gomega.HaveOccurred())
			})
		})
	}
}

package tree

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"

	"github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/suites/api"
)

// Specs that use the same thing run one after the other, also those that use several
// things. Others run beside them.
func TestSpecsThatUseTheSameThingDoNotOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		const each = time.Second
		using := map[string]*atomic.Int32{"accounts": {}, "limit": {}}
		one := func(title string, things ...string) api.Spec {
			return api.Spec{Operation: spec.MoveAccounts, Title: title, Alone: things, Body: func(ginkgo.SpecContext, *api.API) {
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
		env := &api.Env{Profile: profile.Embedded()}
		env.Begin()
		began := time.Now()
		a := start(t.Context(), env, []api.Spec{one("both", "accounts", "limit"), one("an account", "accounts"),
			one("the limit", "limit"), one("the limit again", "limit"), one("nothing")}, Plan{})
		a.wait(t.Context())
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
				inner := func(title string, things ...string) api.Spec {
					return api.Spec{Operation: spec.MoveAccounts, Title: title, Alone: things, Body: func(ginkgo.SpecContext, *api.API) {
						time.Sleep(time.Minute)
						note(title)
					}}
				}
				var cut error
				outer := api.Spec{Operation: spec.MoveAccounts, Title: "outer", Alone: []string{"limit"}, Outer: true, Body: func(_ ginkgo.SpecContext, body *api.API) {
					note("begins")
					if early {
						return
					}
					api.LetOthersRun(body)
					time.Sleep(50 * time.Second)
					cut = body.Ctx.Err()
					note("ends")
				}}
				env := &api.Env{Profile: profile.Embedded(), SpecTimeout: 61 * time.Second}
				env.Begin()
				a := start(t.Context(), env, []api.Spec{inner("both", "accounts", "limit"), inner("the limit", "limit"), outer}, Plan{})
				a.wait(t.Context())
				a.close()
				g.Expect(order[0]).To(gomega.Equal("begins"))
				g.Expect(order[1:3]).To(gomega.ConsistOf("both", "the limit"))
				if !early {
					g.Expect(order[3:]).To(gomega.Equal([]string{"ends"}))
				}
				g.Expect(cut).NotTo(gomega.HaveOccurred())
			})
		})
	}
}

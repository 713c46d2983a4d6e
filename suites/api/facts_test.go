package api

import (
	"net/http"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/internal/sandbox/owned"
	"outreach.example/conformance/spec"
)

// recalled is a scheduler of a recorded run, in which the creator of a row had seen the
// response. The creator of the replay sees it once somebody has asked.
type recalled struct {
	client.RealTime
	respond func()
}

func (r recalled) Decide(string, int) int {
	go r.respond()
	return 0
}

// A spec of a replay waits until the creator of a row has noted the response, if it had in
// the recorded run. Otherwise the row would be another client's.
func TestAReplayWaitsForTheCreatorOfARow(t *testing.T) {
	g := NewWithT(t)
	env := &Env{Profile: profile.Embedded(), Seed: 1}
	env.Begin()
	key, _ := env.Profile.FullKey(dataset.Main)
	name, id := owned.Word(env.Run, 1), "0193b82a-4c00-7e10-8d16-312fa34cb77c"
	creation := sandbox.Change{By: "its creator", Operation: spec.MustOperation(spec.CreatePlacementTest), Key: key.ForClient(), Body: map[string]any{"name": name}}
	begun, err := env.Sandbox().Before(creation)
	g.Expect(err).NotTo(HaveOccurred())

	ctx := client.WithSchedulers(t.Context(), func(string) client.Scheduler {
		return recalled{respond: func() {
			_, _ = env.Sandbox().After(creation, begun, client.Exchange{Status: http.StatusOK, Sent: time.Now(), Took: 1}, id)
		}}
	})
	api := newAPI(client.From(ctx, "a spec"), env, Spec{}, 0)
	created, deleted := api.changed(paging.Row{Key: id, Value: map[string]any{"id": id, "name": name}})
	g.Expect(created).NotTo(BeZero())
	g.Expect(deleted).To(BeFalse())
}

package scenario

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"

	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
)

// rows are the rows of the target that the scenarios of a run may still use.
// Without Ready they are those that the profile lists.
type rows struct {
	accounts []string          // of the source workspace, not moved yet
	spares   []string          // expendable subsequences of the main workspace
	tests    []string          // tests of the main workspace that may be read
	lacks    map[string]string // by operation: why it cannot be requested
	limited  string            // why the limited key cannot be used; empty if it can
	denied   string            // how another run holds the lock; empty if it does not
}

// use removes the rows that a scenario has used up in its first places. It depends
// on the plan alone, so all shards agree.
func (o *rows) use(m *mix, places uint64) {
	if m == nil {
		return
	}
	rounds := (places + uint64(len(m.turns)) - 1) / uint64(len(m.turns))
	for operation, left := range map[string]*[]string{spec.MoveAccounts: &o.accounts, spec.DeleteSubsequence: &o.spares} {
		i := slices.IndexFunc(m.turns, func(t turn) bool { return t.op.ID == operation })
		if i >= 0 {
			*left = (*left)[min(rounds*m.turns[i].of, uint64(len(*left))):]
		}
	}
}

// findSpares finds out which of the expendable subsequences exist. Earlier runs may
// have deleted all of them, because a deletion cannot be rolled back.
func (p *preparation) findSpares() {
	if !p.asked[spec.DeleteSubsequence] || p.stopped() || p.env.Profile.Stateless {
		return
	}
	op := spec.MustOperation(spec.ListSubsequences)
	exists := map[string]bool{}
	w := paging.Run(p.ctx, func(ctx context.Context, cursor string, size int) (paging.Page, error) {
		ex := p.env.Client.Do(ctx, pageRequest(p.env.Profile, p.subjects.mainKey, op, cursor, size))
		if ex.Err != nil {
			return paging.Page{}, ex.Err
		}
		page, err := pageOf(ex, p.env.Rules.Check(judge.Request{Operation: op}, ex), size)
		for _, row := range page.Rows {
			exists[row.Key] = true
		}
		return page, err
	}, paging.Fixed(maxLimit), mostPagesToPlaces)
	if !w.Complete() {
		p.lack(fmt.Sprintf("the list of subsequences, which shows the expendable ones, could not be read (%s)", w.End), spec.DeleteSubsequence)
		return
	}
	p.env.rows.spares = slices.DeleteFunc(slices.Clone(p.env.rows.spares), func(id string) bool { return !exists[paging.FoldID(id)] })
}

// readable is how many tests are created to be read if the profile lists none.
const readable = 4

// ownTests creates tests to be read if the profile lists none. Other tests may
// disappear at any time.
func (p *preparation) ownTests() {
	if !p.asked[spec.GetPlacementTest] || len(p.env.rows.tests) > 0 || p.env.Profile.Writes == profile.WritesNone {
		return
	}
	for i := range readable {
		if id, _ := p.createTest(fmt.Sprintf("read-%d", i)); id != "" {
			p.env.rows.tests = append(p.env.rows.tests, id)
		}
	}
}

// createTest records a test in the journal and creates it. The id is empty if the
// target did not create it.
func (p *preparation) createTest(suffix string) (id string, ex client.Exchange) {
	op := spec.MustOperation(spec.CreatePlacementTest)
	name := fmt.Sprintf("conformance-load-%s-%s", p.env.Run, suffix)
	entry, err := p.env.Journal.Open(p.subjects.creation(name))
	if err != nil || p.stopped() {
		return "", ex
	}
	ex, _ = p.do(client.Request{Operation: op.ID, Method: op.Method, Path: op.Path, Key: p.subjects.mainKey,
		Body: encode(fixtures.PlacementTest(rand.New(rand.NewPCG(p.env.Seed, 0)), name))})
	sighting := p.env.Rules.Check(judge.Request{Operation: op}, ex)
	if len(sighting.Rows) == 1 && ex.Status == http.StatusOK {
		id, _ = sighting.Rows[0]["id"].(string)
	}
	if id != "" {
		_ = p.env.Journal.Made(entry, id) // else cleanup finds it by its name
	}
	return id, ex
}

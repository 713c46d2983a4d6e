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

// rows are what of the target the scenarios of a run may still use. Without
// Ready they are what the profile lists.
type rows struct {
	accounts []string          // of the workspace from which subjects move them: those that were not moved yet
	spares   []string          // expendable subsequences of the main workspace
	tests    []string          // tests of the main workspace that may be read
	lacks    map[string]string // by operation: what keeps it from being asked
	limited  string            // what keeps the limited key from being used; empty for nothing
	denied   string            // why what only one run can use is another's; empty if it is not
}

// use takes the rows out that a scenario has used up in its first places, so that
// the next one finds others. The plan alone says which they are: shards agree.
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

// findSpares looks which of the expendable subsequences are still there: what is
// deleted cannot be put back, so that earlier runs may have left none.
func (p *preparation) findSpares() {
	if !p.asked[spec.DeleteSubsequence] || p.silent || p.env.Profile.Stateless {
		return
	}
	op := spec.MustOperation(spec.ListSubsequences)
	there := map[string]bool{}
	w := paging.Run(p.ctx, func(ctx context.Context, cursor string, size int) (paging.Page, error) {
		ex := p.env.Client.Do(ctx, pageRequest(p.env.Profile, p.subjects.mainKey, op, cursor, size))
		if ex.Err != nil {
			return paging.Page{}, ex.Err
		}
		page, err := pageOf(ex, p.env.Rules.Look(judge.Asked{Operation: op}, ex), size)
		for _, row := range page.Rows {
			there[row.Key] = true
		}
		return page, err
	}, paging.Fixed(maxLimit), mostPagesToPlaces)
	if !w.Complete() {
		p.lack(fmt.Sprintf("which of the expendable subsequences are there could not be asked (%s)", w.End), spec.DeleteSubsequence)
		return
	}
	p.env.rows.spares = slices.DeleteFunc(slices.Clone(p.env.rows.spares), func(id string) bool { return !there[paging.FoldID(id)] })
}

// readable is how many tests are created to be read where the profile lists none.
const readable = 4

// ownTests creates tests to be read, where the profile lists none: those of others
// may go at any time.
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

// createTest creates a test, which the journal knows from before it is there. The
// id is empty if there is none.
func (p *preparation) createTest(suffix string) (id string, ex client.Exchange) {
	op := spec.MustOperation(spec.CreatePlacementTest)
	name := fmt.Sprintf("conformance-load-%s-%s", p.env.Run, suffix)
	entry, err := p.env.Journal.Open(p.subjects.creation(name))
	if err != nil || p.silent {
		return "", ex
	}
	ex, _ = p.do(client.Request{Operation: op.ID, Method: op.Method, Path: op.Path, Key: p.subjects.mainKey,
		Body: encode(fixtures.PlacementTest(rand.New(rand.NewPCG(p.env.Seed, 0)), name))})
	sighting := p.env.Rules.Look(judge.Asked{Operation: op}, ex)
	if len(sighting.Rows) == 1 && ex.Status == http.StatusOK {
		id, _ = sighting.Rows[0]["id"].(string)
	}
	if id != "" {
		_ = p.env.Journal.Made(entry, id) // else cleanup finds it by its name
	}
	return id, ex
}

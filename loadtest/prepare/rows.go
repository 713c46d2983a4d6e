package prepare

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/lookup"
	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/spec"
)

// rows are the rows of the target that the scenarios of a run may still use.
// Without Ready they are those that the profile lists.
type rows struct {
	accounts []string            // of the source workspace, not moved yet
	spares   []string            // expendable subsequences of the main workspace
	tests    []string            // tests of the main workspace that may be read
	listed   map[string][]string // by operation: ids that a list shows for what a profile has no entry for
	lacks    map[string]string   // by operation: why it cannot be requested
	denied   string              // why rows and the limited key are left to another run; empty if they are not
}

// finite returns the rows that requests of the operation use up; nil if they use up none.
func (o *rows) finite(operation string) *[]string {
	switch operation {
	case spec.MoveAccounts:
		return &o.accounts
	case spec.DeleteSubsequence:
		return &o.spares
	}
	return nil
}

// UseUp removes the rows that a scenario has used up in its first places. It depends
// on the plan alone, so all shards agree. A nil mix uses none.
func (m *Mix) UseUp(places uint64) {
	if m == nil {
		return
	}
	rounds := (places + uint64(len(m.turns)) - 1) / uint64(len(m.turns))
	for _, t := range m.turns {
		if left := m.subjects.rows.finite(t.op.ID); left != nil && t.nth == 0 {
			*left = (*left)[min(rounds*t.of, uint64(len(*left))):]
		}
	}
}

// MostPages limits the pages that are read of one list.
const MostPages = 12_000

// findSpares finds out which of the expendable subsequences exist. Earlier runs may
// have deleted all of them, because a deletion cannot be rolled back.
func (p *preparation) findSpares() {
	if !p.asked[spec.DeleteSubsequence] || p.stopped() || p.env.Profile.Stateless || !p.env.Profile.Implements(spec.ListSubsequences) {
		return
	}
	finder := &lookup.Finder{Send: p.env.Client.Do, Profile: p.env.Profile, Serves: p.env.Profile.Implements, Pages: MostPages}
	var spares []string
	for _, id := range p.env.rows.spares {
		sight, _ := finder.Look(p.ctx, lookup.ID{Text: id, Role: dataset.Main, Entry: "expendable_subsequences"})
		switch sight {
		case lookup.There:
			spares = append(spares, id)
		case lookup.Unseen:
			p.lack("the list of subsequences, which shows the expendable ones, could not be read", spec.DeleteSubsequence)
			return
		case lookup.Gone:
		}
	}
	p.env.rows.spares = spares
}

// findListed reads the ids of rows for which a profile has no entry.
func (p *preparation) findListed() {
	for _, op := range spec.Operations() {
		list, ok := op.List()
		if _, entry, _ := p.subjects.main.Named(op.Subject().Kind); !ok || entry != "" || !op.HasPathID() || !p.asked[op.ID] {
			continue
		}
		request, asked := p.subjects.Page(list, "", spec.MaxLimit)
		if ex, answered := p.do(request); answered {
			page, _ := PageOf(ex, p.env.Rules.Check(asked, ex), spec.MaxLimit)
			for _, row := range page.Rows {
				p.env.rows.listed[op.ID] = append(p.env.rows.listed[op.ID], row.Key)
			}
		}
	}
}

// readable is how many tests are created to be read if the profile lists none.
const readable = 4

// ownTests creates tests to be read if the profile lists none. Other tests may
// disappear at any time.
func (p *preparation) ownTests() {
	if !p.asked[spec.GetPlacementTest] || len(p.env.rows.tests) > 0 || p.env.Profile.Writes == profile.WritesNone ||
		excluded(p.env.Profile, spec.CreatePlacementTest) != "" {
		return
	}
	for i := range uint64(readable) {
		if id, _ := p.createTest(i, "read-"); id != "" {
			p.env.rows.tests = append(p.env.rows.tests, id)
		}
	}
}

// createTest creates a test. The id is empty if no new test of the run came of it.
func (p *preparation) createTest(n uint64, end string) (id string, ex client.Exchange) {
	if p.stopped() || p.subjects.lookBefore(p.ctx) != nil || p.subjects.creates() != nil {
		return "", ex
	}
	tests, err := p.subjects.create(p.ctx, []uint64{n}, end, p.env.Rules.Check, func(_ context.Context, requests []client.Request) []client.Exchange {
		ex, _ = p.do(requests[0])
		return []client.Exchange{ex}
	})
	if err != nil {
		return "", ex // cleanup finds it by its name
	}
	return tests[0].id, ex
}

// idOf returns the id of the only row; empty if there is none that an address can hold.
func idOf(rows []map[string]any) string {
	if len(rows) != 1 {
		return ""
	}
	id, _ := rows[0]["id"].(string)
	if len(id) > client.MaxURLValue {
		return ""
	}
	return id
}

// Stock prepares the changes of a phase that begins at the place base of the scenario.
// It records in the journal what the phase will create and move, and creates the tests
// that the phase will delete. The cleanup after the run reads the journal and rolls
// back what is left. check judges the responses. The notes say which operations are
// requested less often than their share, because rows are missing.
func (m *Mix) Stock(ctx context.Context, whole measure.Schedule, base uint64, check Check) (notes []string, err error) {
	notes = m.spread(whole, base)
	s, mine := m.subjects, m.subjects.env.Part(whole)
	deletions, _ := m.places(mine, base, spec.DeletePlacementTest)
	phase := mine.Planned() + int64(len(deletions))
	if err := s.env.Budget.Take(phase); err != nil {
		return notes, err
	}
	s.env.Budget.GiveBack(phase) // the senders of the requests take them
	if m.asks(spec.CreatePlacementTest) || len(deletions) > 0 {
		if err := s.lookBefore(ctx); err != nil && len(deletions) > 0 {
			return notes, fmt.Errorf("which tests exist before the run is unknown: %w", err)
		}
		if err := s.creates(); err != nil {
			return notes, err
		}
	}
	moves, _ := m.places(mine, base, spec.MoveAccounts)
	for _, place := range moves {
		_, n := m.at(place)
		if _, err := s.moves(pick(s.rows.accounts, n)); err != nil {
			return notes, err
		}
	}
	s.stock = map[uint64]string{}
	for some := range slices.Chunk(deletions, createdAtOnce) {
		tests, err := s.create(ctx, some, "deleted-", check, s.env.Client.All)
		if err != nil {
			return notes, fmt.Errorf("the tests to be deleted could not be created: %w", err)
		}
		for i, place := range some {
			s.stock[place] = tests[i].id
		}
	}
	return notes, nil
}

// Check judges a response and returns what is in it.
type Check func(judge.Request, client.Exchange) judge.Result

// maxStock bounds how many tests are created before a phase that deletes them. Each
// is a row on the target, and too many would delay a long phase.
const maxStock = 1000

// spread distributes the possible deletions evenly over the phase. It returns which
// operations are requested less often than their share because rows are missing.
func (m *Mix) spread(whole measure.Schedule, base uint64) (notes []string) {
	_, deletions := m.places(whole, base, spec.DeletePlacementTest)
	m.every = uint64(deletions+maxStock-1) / maxStock
	for _, bounded := range []struct{ operation, why string }{
		{spec.DeletePlacementTest, fmt.Sprintf("at most %d tests are created in advance", maxStock)},
		{spec.MoveAccounts, fmt.Sprintf("the profile lists no more accounts to move (workspaces.%s.accounts)", m.subjects.sourceRole())},
		{spec.DeleteSubsequence, "the profile lists no more subsequences to delete (workspaces.main.expendable_subsequences)"},
	} {
		if asked, turns := m.places(whole, base, bounded.operation); len(asked) < turns {
			notes = append(notes, fmt.Sprintf("%s is requested %d times in %s instead of %d: %s; %s is requested in its place",
				bounded.operation, len(asked), printable.Seconds(whole.Duration()), turns, bounded.why, m.instead.ID))
		}
	}
	return notes
}

// sourceRole returns the role of the workspace whose accounts are moved.
func (s *Subjects) sourceRole() string {
	for role, w := range s.profile.Workspaces {
		if w.ID == s.source.ID {
			return role
		}
	}
	return ""
}

// createdAtOnce is how many tests are created before their responses are checked, so
// that a dead target gets no more requests.
const createdAtOnce = 64

// create creates a test for each place. It returns an error if some test is not proven
// to be new.
func (s *Subjects) create(ctx context.Context, places []uint64, end string, check Check, send func(context.Context, []client.Request) []client.Exchange) ([]made, error) {
	op := spec.MustOperation(spec.CreatePlacementTest)
	requests := make([]client.Request, len(places))
	tests := make([]made, len(places))
	for i, place := range places {
		tests[i].name = s.nameOf(place, end)
		requests[i] = ask(op, "", s.mainKey, placementTestBody(s.seed, place, tests[i].name))
	}
	for i, ex := range send(ctx, requests) {
		if ex.Err != nil {
			return nil, ex.Err
		}
		rows := check(judge.Request{Operation: op, Allowed: client.Only(http.StatusOK), Owner: s.main.ID}, ex).Rows
		tests[i].id, tests[i].ex = idOf(rows), ex
		if ex.Status != http.StatusOK || tests[i].id == "" {
			return nil, fmt.Errorf("the target answered %s", redact.Process.Text(judge.DescribeStatus(ex)))
		}
	}
	return tests, s.prove(ctx, tests...)
}

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
	"outreach.example/conformance/internal/sandbox/journal"
	"outreach.example/conformance/internal/sandbox/owned"
	"outreach.example/conformance/loadtest/schedule"
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
	limited  string              // why the limited key cannot be used; empty if it can
	denied   string              // how another run holds the lock; empty if it does not
}

// UseUp removes the rows that a scenario has used up in its first places. It depends
// on the plan alone, so all shards agree. A nil mix uses none.
func (m *Mix) UseUp(places uint64) {
	if m == nil {
		return
	}
	o := m.subjects.rows
	rounds := (places + uint64(len(m.turns)) - 1) / uint64(len(m.turns))
	for operation, left := range map[string]*[]string{spec.MoveAccounts: &o.accounts, spec.DeleteSubsequence: &o.spares} {
		i := slices.IndexFunc(m.turns, func(t turn) bool { return t.op.ID == operation })
		if i >= 0 {
			*left = (*left)[min(rounds*m.turns[i].of, uint64(len(*left))):]
		}
	}
}

// Limits of reading a list: rows of a page, and pages.
const (
	largestPage = 100
	mostPages   = 12_000
)

// findSpares finds out which of the expendable subsequences exist. Earlier runs may
// have deleted all of them, because a deletion cannot be rolled back.
func (p *preparation) findSpares() {
	if !p.asked[spec.DeleteSubsequence] || p.stopped() || p.env.Profile.Stateless || !p.env.Profile.Implements(spec.ListSubsequences) {
		return
	}
	finder := &lookup.Finder{Send: p.env.Client.Do, Profile: p.env.Profile, Serves: p.env.Profile.Implements, Pages: mostPages}
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
		request, asked := p.subjects.Page(list, "", largestPage)
		if ex, answered := p.do(request); answered {
			page, _ := PageOf(ex, p.env.Rules.Check(asked, ex), largestPage)
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
	for i := range readable {
		if id, _ := p.createTest(fmt.Sprintf("read-%d", i)); id != "" {
			p.env.rows.tests = append(p.env.rows.tests, id)
		}
	}
}

// createTest creates a test. The id is empty if no new
// test of the run came of it.
func (p *preparation) createTest(suffix string) (id string, ex client.Exchange) {
	op := spec.MustOperation(spec.CreatePlacementTest)
	name := owned.Name("conformance-load-"+suffix+"-", p.env.Run)
	if p.stopped() || p.subjects.lookBefore(p.ctx) != nil || p.subjects.creates() != nil {
		return "", ex
	}
	ex, _ = p.do(ask(op, "", p.subjects.mainKey, PlacementTestBody(p.env.Seed, 0, name)))
	result := p.env.Rules.Check(judge.Request{Operation: op}, ex)
	if ex.Status == http.StatusOK {
		id = idOf(result.Rows)
	}
	if id == "" || p.subjects.prove(p.ctx, made{id, name, ex}) != nil {
		return "", ex // cleanup finds it by its name
	}
	return id, ex
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
func (m *Mix) Stock(ctx context.Context, whole schedule.Schedule, base uint64, check Check) (notes []string, err error) {
	notes = m.spread(whole, base)
	s, mine := m.subjects, m.subjects.env.Part(whole)
	deletions := m.places(mine, base, spec.DeletePlacementTest)
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
	for _, place := range m.places(mine, base, spec.MoveAccounts) {
		_, n := m.at(place)
		if _, err := s.env.Journal.Open(journal.Entry{Do: journal.Move, Email: pick(s.rows.accounts, n),
			Home: s.source.ID, Away: s.away.ID, Key: s.adminKey.Name}); err != nil {
			return notes, err
		}
	}
	s.stock = map[uint64]string{}
	for some := range slices.Chunk(deletions, createdAtOnce) {
		if err := s.createTests(ctx, some, check); err != nil {
			return notes, err
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
func (m *Mix) spread(whole schedule.Schedule, base uint64) (notes []string) {
	m.every = (m.has(whole, base, spec.DeletePlacementTest) + maxStock - 1) / maxStock
	for _, bounded := range []struct{ operation, why string }{
		{spec.DeletePlacementTest, fmt.Sprintf("at most %d tests are created in advance", maxStock)},
		{spec.MoveAccounts, fmt.Sprintf("the profile lists no more accounts to move (workspaces.%s.accounts)", m.subjects.sourceRole())},
		{spec.DeleteSubsequence, "the profile lists no more subsequences to delete (workspaces.main.expendable_subsequences)"},
	} {
		turns, asked := m.has(whole, base, bounded.operation), len(m.places(whole, base, bounded.operation))
		if uint64(asked) < turns {
			notes = append(notes, fmt.Sprintf("%s is requested %d times in %s instead of %d: %s; %s is requested in its place",
				bounded.operation, asked, printable.Seconds(whole.Duration()), turns, bounded.why, m.instead.ID))
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

// createTests creates a test for each place that deletes one.
func (s *Subjects) createTests(ctx context.Context, places []uint64, check Check) error {
	op := spec.MustOperation(spec.CreatePlacementTest)
	requests := make([]client.Request, len(places))
	tests := make([]made, len(places))
	for i, place := range places {
		name := s.nameOf(place, "deleted-")
		tests[i] = made{name: name}
		requests[i] = ask(op, "", s.mainKey, PlacementTestBody(s.seed, place, name))
	}
	for i, ex := range s.env.Client.All(ctx, requests) {
		if ex.Err != nil {
			return fmt.Errorf("the tests to be deleted could not be created: %w", ex.Err)
		}
		rows := check(judge.Request{Operation: op, Allowed: client.Only(http.StatusOK), Owner: s.main.ID}, ex).Rows
		tests[i].id, tests[i].ex = idOf(rows), ex
		if ex.Status != http.StatusOK || tests[i].id == "" {
			return fmt.Errorf("the tests to be deleted could not be created: the target answered %s", redact.Process.Text(judge.DescribeStatus(ex)))
		}
		s.stock[places[i]] = tests[i].id
	}
	if err := s.prove(ctx, tests...); err != nil {
		return fmt.Errorf("the tests to be deleted could not be created: %w", err)
	}
	return nil
}

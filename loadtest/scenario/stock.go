package scenario

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"

	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/sandbox/journal"
	"outreach.example/conformance/loadtest/schedule"
	"outreach.example/conformance/spec"
)

// stock prepares what the next phase will change: it writes into the journal
// what it will create and move, before any of it goes out, and creates the tests
// that it will delete. What is left of it all is put back by whoever reads the
// journal, once the run is over.
func (r *runner) stock(whole schedule.Schedule) error {
	r.spread(whole)
	mine := r.mine(whole)
	deletions := r.mix.places(mine, r.places, spec.DeletePlacementTest)
	// What may not be sent needs no preparation.
	if err := r.permit(whole); err != nil {
		return err
	}
	phase := mine.Planned() + int64(len(deletions))
	if err := r.env.Budget.take(phase); err != nil {
		return err
	}
	r.env.Budget.giveBack(phase) // who sends the requests takes them
	for _, place := range r.mix.places(mine, r.places, spec.CreatePlacementTest) {
		if _, err := r.env.Journal.Open(r.subjects.creation(r.subjects.testName(place))); err != nil {
			return err
		}
	}
	for _, place := range r.mix.places(mine, r.places, spec.MoveAccounts) {
		_, n := r.mix.at(place)
		if _, err := r.env.Journal.Open(journal.Entry{Do: journal.Move, Email: pick(r.subjects.rows.accounts, n),
			Home: r.subjects.source.ID, Away: r.subjects.away.ID, Key: r.subjects.adminKey.Name}); err != nil {
			return err
		}
	}
	r.subjects.stock = map[uint64]string{}
	return r.createTests(deletions)
}

// mostStock bounds how many tests are created before a phase to be deleted in it:
// each is a row that the target keeps meanwhile, and a long phase would begin late.
const mostStock = 1000

// spread spreads the deletions that there are tests for evenly over the phase,
// and says what is asked less often than its share for want of rows.
func (r *runner) spread(whole schedule.Schedule) {
	r.mix.every = (r.mix.has(whole, r.places, spec.DeletePlacementTest) + mostStock - 1) / mostStock
	for _, bounded := range []struct{ operation, why string }{
		{spec.DeletePlacementTest, fmt.Sprintf("no more than %d tests are created beforehand", mostStock)},
		{spec.MoveAccounts, "the profile lists no more accounts to move"},
		{spec.DeleteSubsequence, "there are no more expendable subsequences"},
	} {
		turns, asked := r.mix.has(whole, r.places, bounded.operation), len(r.mix.places(whole, r.places, bounded.operation))
		text := fmt.Sprintf("%s is asked %d times in %s instead of %d: %s; %s is asked in its place",
			bounded.operation, asked, whole.Duration(), turns, bounded.why, r.mix.instead.ID)
		if uint64(asked) < turns && !slices.Contains(r.out.Notes, text) {
			r.note("%s", text)
		}
	}
}

// createdAtOnce is how many tests are created before their answers are looked at:
// of a target that has died no more is asked.
const createdAtOnce = 64

// createTests creates a test for each place at which one will be deleted.
func (r *runner) createTests(places []uint64) error {
	for some := range slices.Chunk(places, createdAtOnce) {
		if err := r.createSome(some); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) createSome(places []uint64) error {
	op := spec.MustOperation(spec.CreatePlacementTest)
	requests := make([]client.Request, len(places))
	entries := make([]int, len(places))
	for i, place := range places {
		name := r.subjects.testName(place) + "-deleted"
		entry, err := r.env.Journal.Open(r.subjects.creation(name))
		if err != nil {
			return err
		}
		entries[i] = entry
		requests[i] = client.Request{Operation: op.ID, Method: op.Method, Path: op.Path, Key: r.subjects.mainKey,
			Body: encode(fixtures.PlacementTest(rand.New(rand.NewPCG(r.subjects.seed, place)), name))}
	}
	for i, ex := range r.env.Client.All(r.ctx, requests) {
		if ex.Err != nil {
			return fmt.Errorf("the tests that are to be deleted could not be created: %w", ex.Err)
		}
		rows := r.looked(judge.Asked{Operation: op, Valid: true, Owner: r.subjects.main.ID}, ex).Rows
		id := ""
		if len(rows) == 1 {
			id, _ = rows[0]["id"].(string)
		}
		if ex.Status != http.StatusOK || id == "" {
			return fmt.Errorf("the tests that are to be deleted could not be created: the target answered %s", r.env.Client.Redact(judge.DescribeStatus(ex)))
		}
		r.subjects.stock[places[i]] = id
		if err := r.env.Journal.Made(entries[i], id); err != nil {
			return err
		}
	}
	return nil
}

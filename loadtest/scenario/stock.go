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

// stock prepares the changes of the next phase. It records in the journal what the
// phase will create and move, and creates the tests that the phase will delete. The
// cleanup after the run reads the journal and rolls back what is left.
func (r *runner) stock(whole schedule.Schedule) error {
	r.spread(whole)
	mine := r.mine(whole)
	deletions := r.mix.places(mine, r.places, spec.DeletePlacementTest)
	// A phase that may not be sent needs no preparation.
	if err := r.permit(whole); err != nil {
		return err
	}
	phase := mine.Planned() + int64(len(deletions))
	if err := r.env.Budget.take(phase); err != nil {
		return err
	}
	r.env.Budget.giveBack(phase) // the senders of the requests take them
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

// maxStock bounds how many tests are created before a phase that deletes them. Each
// is a row on the target, and too many would delay a long phase.
const maxStock = 1000

// spread distributes the possible deletions evenly over the phase. It notes which
// operations are requested less often than their share because rows are missing.
func (r *runner) spread(whole schedule.Schedule) {
	r.mix.every = (r.mix.has(whole, r.places, spec.DeletePlacementTest) + maxStock - 1) / maxStock
	for _, bounded := range []struct{ operation, why string }{
		{spec.DeletePlacementTest, fmt.Sprintf("at most %d tests are created in advance", maxStock)},
		{spec.MoveAccounts, "the profile lists no more accounts to move"},
		{spec.DeleteSubsequence, "there are no more expendable subsequences"},
	} {
		turns, asked := r.mix.has(whole, r.places, bounded.operation), len(r.mix.places(whole, r.places, bounded.operation))
		text := fmt.Sprintf("%s is requested %d times in %s instead of %d: %s; %s is requested in its place",
			bounded.operation, asked, whole.Duration(), turns, bounded.why, r.mix.instead.ID)
		if uint64(asked) < turns && !slices.Contains(r.out.Notes, text) {
			r.note("%s", text)
		}
	}
}

// createdAtOnce is how many tests are created before their responses are checked, so
// that a dead target gets no more requests.
const createdAtOnce = 64

// createTests creates a test for each place that deletes one.
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
			return fmt.Errorf("the tests to be deleted could not be created: %w", ex.Err)
		}
		rows := r.looked(judge.Request{Operation: op, Valid: true, Owner: r.subjects.main.ID}, ex).Rows
		id := ""
		if len(rows) == 1 {
			id, _ = rows[0]["id"].(string)
		}
		if ex.Status != http.StatusOK || id == "" {
			return fmt.Errorf("the tests to be deleted could not be created: the target answered %s", r.env.Client.Redact(judge.DescribeStatus(ex)))
		}
		r.subjects.stock[places[i]] = id
		if err := r.env.Journal.Made(entries[i], id); err != nil {
			return err
		}
	}
	return nil
}

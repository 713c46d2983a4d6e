package scenario

import (
	"fmt"
	"math/rand/v2"
	"net/http"

	"outreach.example/conformance/client"
	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/journal"
	"outreach.example/conformance/judge"
	"outreach.example/conformance/loadtest/schedule"
	"outreach.example/conformance/spec"
)

// stock prepares what the next phase will change: it writes into the journal
// what it will create and move, before any of it goes out, and creates the tests
// that it will delete. What is left of it all is put back by whoever reads the
// journal, once the run is over.
func (r *runner) stock(whole schedule.Schedule) error {
	mine := r.mine(whole)
	deletions := r.mix.places(mine, r.places, spec.DeletePlacementTest)
	// What may not be sent needs no preparation.
	if err := r.permit(whole, mine.Planned()+int64(len(deletions))); err != nil {
		return err
	}
	for _, place := range r.mix.places(mine, r.places, spec.CreatePlacementTest) {
		if _, err := r.announce(r.creation(r.subjects.testName(place))); err != nil {
			return err
		}
	}
	for _, place := range r.mix.places(mine, r.places, spec.MoveAccounts) {
		_, n := r.mix.at(place)
		if _, err := r.announce(journal.Entry{Do: journal.Move, Email: pick(r.subjects.source.Accounts, n),
			Home: r.subjects.source.ID, Away: r.subjects.away.ID, Key: r.subjects.adminKey.Name}); err != nil {
			return err
		}
	}
	r.subjects.stock = map[uint64]string{}
	r.env.spent += int64(len(deletions))
	return r.createTests(deletions)
}

// creation is the entry of a test that is about to be created in the main workspace.
func (r *runner) creation(name string) journal.Entry {
	return journal.Entry{Do: journal.Create, Name: name, Key: r.subjects.mainKey.Name, Home: r.subjects.main.ID}
}

// announce enters a change into the journal.
func (r *runner) announce(e journal.Entry) (int, error) {
	if r.env.Journal == nil {
		return 0, nil
	}
	entry, err := r.env.Journal.Open(e)
	if err != nil {
		return 0, fmt.Errorf("nothing is changed that cannot be written down first: %w", err)
	}
	return entry, nil
}

// createTests creates a test for each place at which one will be deleted.
func (r *runner) createTests(places []uint64) error {
	op := spec.MustOperation(spec.CreatePlacementTest)
	requests := make([]client.Request, len(places))
	entries := make([]int, len(places))
	for i, place := range places {
		name := r.subjects.testName(place) + "-deleted"
		entry, err := r.announce(r.creation(name))
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
		if r.env.Journal != nil && r.env.Client.Redact(id) == id {
			if err := r.env.Journal.Made(entries[i], id); err != nil {
				return err
			}
		}
	}
	return nil
}

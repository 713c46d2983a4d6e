package prepare

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/sandbox/journal"
	"outreach.example/conformance/spec"
)

// The keys are tried before the load: thousands of refusals of a wrong key would
// look like faults of the target.

// Refuses reports whether the response refuses the key.
func Refuses(ex client.Exchange) bool {
	return ex.Err == nil && (ex.Status == http.StatusUnauthorized || ex.Status == http.StatusForbidden)
}

// tryKeys requests with each key what the scenarios read with it, and removes from
// them what is refused. It returns an error if a key is refused altogether.
func (p *preparation) tryKeys() error {
	var reads []spec.Operation
	for _, op := range spec.Operations() {
		if p.asked[op.ID] && op.Answer != spec.One {
			reads = append(reads, op)
		}
	}
	main, _ := p.env.Profile.FullKey(dataset.Main)
	if err := p.tryKey(main, reads); err != nil {
		return err
	}
	list, served := p.env.Profile.AnyList("")
	if admin, ok := p.env.Profile.FullKey(dataset.Admin); ok && served && p.asked[spec.MoveAccounts] {
		return p.tryKey(admin, []spec.Operation{list})
	}
	// The limited key is not tried: the probes would take its requests for foreign
	// traffic. They detect a refused key themselves (prober.taken).
	return nil
}

// tryKey requests one row of each list.
func (p *preparation) tryKey(key profile.Key, reads []spec.Operation) error {
	var refused []string
	answered := 0
	status := 0
	began := time.Now()
	for _, op := range reads {
		request := ask(op, "", key.ForClient(), nil)
		if op.Answer == spec.Page {
			request.Query = url.Values{"limit": {"1"}}
		}
		ex, ok := p.do(request)
		switch {
		case !ok && answered == 0 && errors.Is(ex.Err, client.ErrThrottled):
			return &ThrottledError{key: key.Label(), operation: op.ID, waited: time.Since(began)}
		case !ok:
			return nil
		}
		if answered++; Refuses(ex) {
			refused, status = append(refused, op.ID), ex.Status
		}
	}
	if len(refused) == 0 || len(refused) < answered {
		p.lack(refusal(key, status), refused...)
		return nil
	}
	also := ""
	if n := len(refused) - 1; n > 0 {
		also = fmt.Sprintf(", and so do all %d others that the scenarios request", n)
	}
	return fmt.Errorf("the target refuses %s: %s returns %d%s (correct the key; `outreach-conformance target check` checks all keys)",
		key.Label(), refused[0], status, also)
}

// refusal explains why the scenarios skip an operation.
func refusal(key profile.Key, status int) string {
	return fmt.Sprintf("the target answers %d to %s (`outreach-conformance target check` checks all keys)", status, key.Label())
}

// tryChanges tries once each change that the scenarios make, in a way that can be
// rolled back. It removes from the scenarios what is refused.
func (p *preparation) tryChanges() {
	main, _ := p.env.Profile.FullKey(dataset.Main)
	try := func(operation string, ask func(spec.Operation) client.Exchange) {
		if p.asked[operation] && !p.stopped() {
			if ex := ask(spec.MustOperation(operation)); Refuses(ex) {
				p.lack(refusal(main, ex.Status), operation)
			}
		}
	}
	asPlanned := func(op spec.Operation) client.Exchange {
		r := p.subjects.request(op, 0, 0, 0)
		ex, _ := p.do(client.Request{Operation: op.ID, Method: op.Method, Path: r.Path, Key: r.Key, Body: r.Body})
		return ex
	}
	deletion := func(op spec.Operation, id string) client.Exchange {
		ex, _ := p.do(ask(op, id, p.subjects.mainKey, nil))
		return ex
	}
	own := ""
	if p.asked[spec.CreatePlacementTest] || p.asked[spec.DeletePlacementTest] {
		id, ex := p.createTest("tried")
		if own = id; Refuses(ex) { // no test means nothing to delete either
			p.lack(refusal(main, ex.Status), spec.CreatePlacementTest, spec.DeletePlacementTest)
		}
	}
	if len(p.env.rows.tests) > 0 {
		try(spec.GetPlacementTest, asPlanned)
	}
	if own != "" {
		try(spec.DeletePlacementTest, func(op spec.Operation) client.Exchange { return deletion(op, own) })
	}
	try(spec.AddCampaignVariables, asPlanned)
	try(spec.MoveLead, asPlanned)
	// The id is unused: the rows must last.
	try(spec.DeleteSubsequence, func(op spec.Operation) client.Exchange { return deletion(op, UnusedID(p.env.Seed)) })
	p.tryMove()
}

// tryMove moves an account there and back: only a valid move shows whether the
// admin key may move accounts.
func (p *preparation) tryMove() {
	if !p.asked[spec.MoveAccounts] || p.stopped() || len(p.env.rows.accounts) == 0 {
		return
	}
	op, s := spec.MustOperation(spec.MoveAccounts), p.subjects
	move := func(from, to profile.Workspace) (client.Exchange, bool) {
		return p.do(ask(op, "", s.adminKey, encode(fixtures.MoveAccounts(from.ID, to.ID, s.rows.accounts[0]))))
	}
	entry, err := p.env.Journal.Open(journal.Entry{Do: journal.Move, Email: s.rows.accounts[0], Home: s.source.ID, Away: s.away.ID, Key: s.adminKey.Name})
	if err != nil {
		p.lack(err.Error(), op.ID)
		return
	}
	there, ok := move(s.source, s.away)
	if !ok {
		return
	}
	if there.Status == http.StatusOK {
		back, ok := move(s.away, s.source)
		if !ok || back.Status != http.StatusOK {
			s.rows.accounts = s.rows.accounts[1:] // cleanup moves it home
			return
		}
	}
	if err := p.env.Journal.Close(entry); err != nil {
		p.lack(err.Error(), op.ID)
	}
	if Refuses(there) {
		admin, _ := p.env.Profile.FullKey(dataset.Admin)
		p.lack(refusal(admin, there.Status), op.ID)
	}
}

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
//
// The limited key is not tried: the probes would take its requests for foreign
// traffic. They detect a refused key themselves (prober.taken).
func (p *preparation) tryKeys() error {
	var reads []spec.Operation
	for _, op := range spec.Operations() {
		if p.asked[op.ID] && op.Answer != spec.One {
			reads = append(reads, op)
		}
	}
	if err := p.tryKey(p.subjects.mainKey, reads); err != nil {
		return err
	}
	list, served := p.env.Profile.AnyList("")
	if served && p.asked[spec.MoveAccounts] { // only with an admin key
		return p.tryKey(p.subjects.adminKey, []spec.Operation{list})
	}
	return nil
}

// tryKey requests one row of each list.
func (p *preparation) tryKey(key client.Key, reads []spec.Operation) error {
	var refused []string
	var last client.Exchange // that was refused
	answered := 0
	began := time.Now()
	for _, op := range reads {
		request := ask(op, "", key, nil)
		if op.Answer == spec.Page {
			request.Query = url.Values{"limit": {"1"}}
		}
		ex, ok := p.do(request)
		switch {
		case !ok && answered == 0 && errors.Is(ex.Err, client.ErrThrottled):
			return &ThrottledError{key: p.keyOf(ex).Label(), operation: op.ID, waited: time.Since(began)}
		case !ok:
			return nil
		}
		if answered++; Refuses(ex) {
			refused, last = append(refused, op.ID), ex
		}
	}
	if len(refused) == 0 || len(refused) < answered {
		p.refused(last, refused...)
		return nil
	}
	also := ""
	if n := len(refused) - 1; n > 0 {
		also = fmt.Sprintf(", and so do all %d others that the scenarios request", n)
	}
	return fmt.Errorf("the target refuses %s: %s returns %d%s (correct the key; `outreach-conformance target check` checks all keys)",
		p.keyOf(last).Label(), refused[0], last.Status, also)
}

// refused removes the operations whose request was refused from the scenarios.
func (p *preparation) refused(ex client.Exchange, operations ...string) {
	p.lack(fmt.Sprintf("the target answers %d to %s (`outreach-conformance target check` checks all keys)", ex.Status, p.keyOf(ex).Label()), operations...)
}

// keyOf returns the key of a request.
func (p *preparation) keyOf(ex client.Exchange) profile.Key {
	role := dataset.Main
	if ex.Request.Key == p.subjects.adminKey {
		role = dataset.Admin
	}
	key, _ := p.env.Profile.FullKey(role)
	return key
}

// tryChanges tries once each change that the scenarios make, in a way that can be
// rolled back. It removes from the scenarios what is refused.
func (p *preparation) tryChanges() {
	own := ""
	try := func(operation string, request func(spec.Operation) client.Request) {
		if !p.asked[operation] || p.stopped() {
			return
		}
		if ex, _ := p.do(request(spec.MustOperation(operation))); Refuses(ex) {
			p.refused(ex, operation)
		}
	}
	planned := func(op spec.Operation) client.Request {
		r := p.subjects.request(op, 0, 0, 0)
		return client.Request{Operation: op.ID, Method: op.Method, Path: r.Path, Key: r.Key, Body: r.Body}
	}
	named := func(id string) func(spec.Operation) client.Request {
		return func(op spec.Operation) client.Request { return ask(op, id, p.subjects.mainKey, nil) }
	}
	if p.asked[spec.CreatePlacementTest] || p.asked[spec.DeletePlacementTest] {
		id, ex := p.createTest(0, "tried-")
		if own = id; Refuses(ex) { // no test means nothing to delete either
			p.refused(ex, spec.CreatePlacementTest, spec.DeletePlacementTest)
		}
	}
	if len(p.env.rows.tests) > 0 {
		try(spec.GetPlacementTest, planned)
	}
	if own != "" {
		try(spec.DeletePlacementTest, named(own))
	}
	try(spec.AddCampaignVariables, planned)
	try(spec.MoveLead, planned)
	try(spec.DeleteSubsequence, named(UnusedID(p.env.Seed))) // the rows must last
	if p.asked[spec.MoveAccounts] && !p.stopped() && len(p.env.rows.accounts) > 0 {
		p.tryMove()
	}
}

// tryMove moves an account there and back: only a valid move shows whether the
// admin key may move accounts.
func (p *preparation) tryMove() {
	s := p.subjects
	account := s.rows.accounts[0]
	move := func(from, to profile.Workspace) client.Exchange {
		ex, _ := p.do(ask(spec.MustOperation(spec.MoveAccounts), "", s.adminKey, encode(fixtures.MoveAccounts(from.ID, to.ID, account))))
		return ex
	}
	entry, err := s.moves(account)
	if err == nil {
		there := move(s.source, s.away)
		if Refuses(there) {
			p.refused(there, spec.MoveAccounts)
		}
		moved := there.Err != nil || there.Status/100 == 2 || there.Status >= 500 // after a 5xx nobody knows
		if moved && (there.Err != nil || move(s.away, s.source).Status != http.StatusOK) {
			s.rows.accounts = s.rows.accounts[1:] // cleanup moves it home
			return
		}
		err = p.env.Journal.Close(entry)
	}
	if err != nil {
		p.lack(err.Error(), spec.MoveAccounts)
	}
}

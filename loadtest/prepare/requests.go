package prepare

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"

	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/internal/sandbox"

	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
)

// Subjects are the rows that the profile lets load requests name, and the keys for
// them. Missing rows remove operations from the mix. They never change a verdict.
type Subjects struct {
	env     *Env
	profile *profile.Profile
	part    string // of this run, in the names of what it creates
	seed    uint64

	mainKey, adminKey client.Key
	main              profile.Workspace
	admin             string            // id of the main workspace's admin workspace; may be empty
	source, away      profile.Workspace // of account moves

	rows  *rows
	stock map[uint64]string // ids of tests that were created to be deleted, by the place of the deletion
}

// NewSubjects reads the profile. It returns an error if there is no key with all
// scopes in the main workspace, which every scenario needs.
func NewSubjects(env *Env, part string) (*Subjects, error) {
	profile := env.Profile
	key, ok := profile.FullKey(dataset.Main)
	if !ok {
		return nil, fmt.Errorf("the profile has no key of the workspace %q with the scope all:all: load needs one", dataset.Main)
	}
	s := &Subjects{env: env, profile: profile, part: part, seed: env.Seed, mainKey: key.ForClient(), main: profile.Workspaces[dataset.Main],
		admin: profile.AdminOf(profile.Workspaces[dataset.Main].ID)}
	if admin, ok := profile.FullKey(dataset.Admin); ok {
		s.adminKey = admin.ForClient()
		s.source, s.away, _ = profile.Moves(dataset.Admin)
	}
	if s.rows = env.rows; s.rows == nil {
		s.rows = &rows{accounts: s.source.Accounts, spares: s.main.ExpendableSubsequences, tests: s.main.PlacementTests, listed: map[string][]string{}, lacks: map[string]string{}}
	}
	return s, nil
}

// lacks returns why the operation cannot be in a mix; empty if it can.
func (s *Subjects) lacks(op spec.Operation) string {
	if why := s.rows.lacks[op.ID]; why != "" {
		return why
	}
	if why := excluded(s.profile, op.ID); why != "" {
		return why
	}
	if op.Unsafe() && s.profile.Writes == profile.WritesNone {
		return "writes: none"
	}
	named := len(op.Names) > 0 && op.ID != spec.DeletePlacementTest
	switch {
	case !named:
		return ""
	case op.Unsafe() && s.profile.Writes == profile.WritesOwn:
		return "writes: own, and it changes what the run did not create"
	case op.ID == spec.MoveAccounts && (s.adminKey == client.Key{} || s.away.ID == ""):
		return "the profile lists no admin key, or not two sub-workspaces with an account to move"
	case op.ID == spec.MoveAccounts && len(s.rows.accounts) == 0:
		return "every account that the profile lists was moved already"
	case op.ID == spec.MoveAccounts:
		return ""
	}
	for _, n := range op.Names {
		if len(s.ids(op, n.Kind)) > 0 {
			continue
		}
		if _, entry, what := s.main.Named(n.Kind); entry != "" {
			return fmt.Sprintf("workspaces.main.%s of the profile names nothing that is there (%s)", entry, what)
		}
		return "its list shows no row"
	}
	return ""
}

// ids returns the ids of the kind that requests of the operation name.
func (s *Subjects) ids(op spec.Operation, kind string) []string {
	switch ids, entry, _ := s.main.Named(kind); {
	case kind == profile.PlacementTest:
		return s.rows.tests
	case kind == profile.Expendable:
		return s.rows.spares
	case entry != "":
		return ids
	}
	return s.rows.listed[op.ID]
}

// partners are the operations that another one needs: what load creates must be
// removed, and what it deletes must be created.
var partners = map[string]string{
	spec.CreatePlacementTest: spec.DeletePlacementTest,
	spec.DeletePlacementTest: spec.CreatePlacementTest,
}

// excluded returns why the profile's operations rule the operation out; empty if they
// do not.
func excluded(p *profile.Profile, operation string) string {
	if !p.Implements(operation) {
		return "excluded by the target profile or --operation"
	}
	if partner := partners[operation]; partner != "" && !p.Implements(partner) {
		return "the target profile or --operation excludes " + partner + ", which it needs"
	}
	return ""
}

// Limited returns why the key that may be driven over its limit cannot be used; empty
// if it can.
func (s *Subjects) Limited() string { return s.rows.denied }

// request returns the n-th request of the operation, at its place in the scenario. A
// limit of 0 sends no limit.
func (s *Subjects) request(op spec.Operation, limit int, n, place uint64) generate.Request {
	r := generate.Request{Label: scenario.Label(op, limit), Method: op.Method, Key: s.mainKey,
		Asked: judge.Request{Operation: op, Allowed: client.Only(http.StatusOK), Owner: s.main.ID, Admin: s.admin}}
	query, id := "", ""
	switch op.ID {
	case spec.MoveAccounts:
		r.Key, r.Asked.Owner = s.adminKey, s.profile.Workspaces[dataset.Admin].ID
		r.Body = encode(fixtures.MoveAccounts(s.source.ID, s.away.ID, pick(s.rows.accounts, n)))
	case spec.CreatePlacementTest:
		r.Body = placementTestBody(s.seed, place, s.nameOf(place, ""))
	case spec.DeletePlacementTest:
		id = s.stock[place]
	default:
		id, r.Body = s.named(op, n)
		if limit > 0 && op.Answer == spec.Page {
			query = "?limit=" + strconv.Itoa(limit)
			r.Asked.Limit = limit
		}
	}
	if !s.profile.Stateless { // a stateless target answers with examples, whatever the id
		r.Asked.ID = id
	}
	r.Path = op.URLPath(id) + query
	return r
}

// named returns the id in the path and the body of the n-th request of the operation: all
// leads are moved to the first subsequence, then to the next.
func (s *Subjects) named(op spec.Operation, n uint64) (id string, body []byte) {
	id, members := fixtures.Naming(op, func(name spec.Named) string {
		ids := s.ids(op, name.Kind)
		one := pick(ids, n)
		n /= uint64(len(ids))
		return one
	})
	if len(members) > 0 {
		body = encode(members)
	}
	return id, body
}

// creates records in the journal that the run is about to create tests in the main workspace.
func (s *Subjects) creates() error {
	e := sandbox.Entry{Do: sandbox.Create, Home: s.main.ID}
	if s.env.tests != nil {
		e.After = s.env.tests.NewestBefore()
	}
	_, err := s.env.Journal.Open(e)
	return err
}

// moves records in the journal that the run is about to move an account.
func (s *Subjects) moves(account string) (entry int, err error) {
	return s.env.Journal.Open(sandbox.Entry{Do: sandbox.Move, Email: account, Home: s.source.ID, Away: s.away.ID})
}

// nameOf returns the name of a test for the request at the place.
func (s *Subjects) nameOf(place uint64, end string) string {
	return sandbox.TestName(fmt.Sprintf("conformance-load-%s-%d-%s", s.part, place, end), s.env.Run)
}

// placementTestBody returns the body of a request that creates a test of that name.
func placementTestBody(seed, n uint64, name string) []byte {
	return encode(fixtures.PlacementTest(rand.New(rand.NewPCG(seed, n)), name))
}

func pick(ids []string, n uint64) string { return ids[n%uint64(len(ids))] }

// encode returns the JSON of a body that the harness made.
func encode(body any) []byte {
	encoded, err := json.Marshal(body)
	if err != nil {
		panic(fmt.Sprintf("prepare: cannot encode a request body: %v", err))
	}
	return encoded
}

// Page returns the request for the page of a list after a cursor, and what is known
// about it. An empty cursor means the first page. A limit of 0 sends none.
func (s *Subjects) Page(op spec.Operation, cursor string, limit int) (client.Request, judge.Request) {
	request := ask(op, "", s.mainKey, nil)
	request.Query = url.Values{}
	if limit > 0 {
		request.Query.Set("limit", strconv.Itoa(limit))
	}
	if cursor != "" {
		name, _ := s.profile.CursorParameter(op)
		request.Query.Set(name, cursor)
	}
	return request, judge.Request{Operation: op, Allowed: client.Only(http.StatusOK), Owner: s.main.ID, Admin: s.admin, Limit: limit}
}

// PageOf returns the page in a response, with the keys of its rows only.
func PageOf(ex client.Exchange, s judge.Result, limit int) (paging.Page, error) {
	switch {
	case ex.Truncated:
		return paging.Page{}, fmt.Errorf("not a page: %s", load.FailureInWords(measure.FailureTooLong))
	case ex.Status != http.StatusOK || s.Err != nil:
		return paging.Page{}, fmt.Errorf("not a page: the target answered %d", ex.Status)
	}
	page := paging.Page{Limit: limit}
	op, _ := spec.FindOperation(ex.Request.Operation)
	for _, row := range s.Rows {
		_, byID := row["id"].(string)
		page.Rows = append(page.Rows, paging.Row{Key: paging.KeyOf(op.Resource, row), ByID: byID})
	}
	body, _ := s.Body.(map[string]any)
	page.Cursor, _ = body["next_starting_after"].(string)
	return page, nil
}

// UnusedID returns an id that nothing bears.
func UnusedID(seed uint64) string { return fixtures.UnusedID(rand.New(rand.NewPCG(seed, 0x6964))) }

// Typical returns a typical page request of a load, and what is known about it, if
// the profile has a key for it.
func Typical(profile *profile.Profile) (request client.Request, asked judge.Request, ok bool) {
	s, err := NewSubjects(&Env{Profile: profile}, "")
	op, served := profile.AnyList(spec.ListPlacementTests)
	if err != nil || !served {
		return request, asked, false
	}
	request, asked = s.Page(op, "", 10)
	return request, asked, true
}

// ask returns a request of the operation.
func ask(op spec.Operation, id string, key client.Key, body []byte) client.Request {
	return client.Request{Operation: op.ID, Method: op.Method, Path: op.URLPath(id), Key: key, Body: body}
}

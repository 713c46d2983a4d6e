package api

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/lookup"
	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/spec"
)

// What a valid request needs comes from the profile or is made on the target. A
// spec that lacks an input is not assessed, and says which.

// Key returns the key of the role that may do everything.
func Key(api *API, role string) client.Key {
	api.Take(FullKey(role))
	key, _ := api.Profile.FullKey(role)
	return key.ForClient()
}

// Workspace returns what the profile says of the role's workspace.
func (api *API) Workspace(role string) profile.Workspace { return api.Profile.Workspaces[role] }

// Parameter returns the name of a query parameter that the specification does
// not show, or ends the spec.
func (api *API) Parameter(operation, meaning string) string {
	api.Take(Parameter(operation, meaning))
	name, _ := api.Profile.Parameter(operation, meaning)
	return name
}

// Operation returns the operation that the spec is about.
func (api *API) Operation() spec.Operation { return spec.MustOperation(api.Spec.Operation) }

// As returns a call of the operation by the role, without what the request needs. With
// that, it is valid.
func (api *API) As(role, operation string) Call {
	op := spec.MustOperation(operation)
	api.Take(KeyFor(role, operation))
	key, _ := api.Profile.KeyFor(role, op)
	k := Call{Operation: op, Key: key.ForClient(), owner: api.Owner(role), Allowed: client.Only(http.StatusOK)}
	// The rows of the limited workspace are not looked at before its limit is exceeded.
	k.anyOwner = role == dataset.Limited || k.owner == "" || Attempt(api, func() { api.ownerSeen(role) }) != ""
	return k
}

// Request returns a call of the spec's operation that is valid in every respect.
// A call that deletes names a resource that may be deleted.
func (api *API) Request() Call {
	return api.RequestAs(AuthorizedRole(api.Operation()), api.Spec.Operation)
}

// RequestAs is Request for another role and operation.
func (api *API) RequestAs(role, operation string) Call {
	k := api.As(role, operation)
	switch {
	case operation == spec.MoveAccounts:
		source, destination := TwoWorkspaces(api, role)
		return k.WithBody(Move(source, destination, source.Accounts[0]))
	case operation == spec.CreatePlacementTest:
		return k.WithBody(fixtures.PlacementTest(api.draws(), api.Word())).WithField("email_subject", "Placement check "+api.Word())
	}
	return Naming(api, k, func(n spec.Named) string {
		switch {
		case n.Kind == profile.PlacementTest && role == dataset.Main:
			made := NewTest(api)
			if !k.Operation.Unsafe() { // a deletion waits for its test anyway
				Shown(api, made)
			}
			return made.ID()
		case n.Kind == profile.Expendable && role == dataset.Main:
			return ExpendableSubsequence(api)
		}
		return AnID(api, role, k.Operation, n.Kind)
	})
}

// Naming returns the call with the ids that it must name, and with the rest of its body.
func Naming(api *API, k Call, id func(spec.Named) string) Call {
	path, body := fixtures.Naming(k.Operation, id)
	if path != "" {
		k = k.WithID(path)
	}
	for _, field := range slices.Sorted(maps.Keys(body)) {
		k = k.WithField(field, body[field])
	}
	return k
}

// AnID returns an id of the kind in the role's workspace: from the profile, or else from
// the list that shows what the operation is about.
func AnID(api *API, role string, op spec.Operation, kind string) string {
	ids, entry, _ := api.Workspace(role).Named(kind)
	if list, ok := op.List(); entry == "" && ok {
		return api.listedIn(role, list)
	}
	api.Take(listedID(role, kind))
	return ids[0]
}

// listedIn returns the id of a row that the role's list shows. It asks once a run.
func (api *API) listedIn(role string, list spec.Operation) string {
	if role == dataset.Unpaid { // its lists are barred
		return api.FreshID()
	}
	first := func(api *API) string {
		for _, row := range api.Do(api.As(role, list.ID)).Rows() {
			if id, _ := row["id"].(string); id != "" {
				return id
			}
		}
		return ""
	}
	id := cmp.Or(Fact(api, list.ID, "shows a row to "+role, first), first(api))
	if id == "" {
		api.NotAssessed("a row of %s in the workspace %q", list.ID, role)
	}
	return id
}

// HarmlessRequest is Request, but what deletes or moves names something that
// does not exist: for requests that must be refused before it is looked up.
func (api *API) HarmlessRequest() Call {
	return HarmlessRequestAs(api, AuthorizedRole(api.Operation()), api.Spec.Operation)
}

func HarmlessRequestAs(api *API, role, operation string) Call {
	op := spec.MustOperation(operation)
	if len(op.Names) == 0 {
		return api.RequestAs(role, operation)
	}
	k := Naming(api, api.As(role, operation), func(spec.Named) string { return api.FreshID() })
	switch {
	case op.HasPathID():
		return notFound(k)
	case operation == spec.MoveAccounts: // what becomes of unknown accounts is open
		return k.WithField("emails", []string{api.Word() + "@example.com"}).MayBeRefused()
	}
	return Charging(k.MustBeRefused(""), spec.NotFoundLead.On(operation)) // it also names an unknown subsequence
}

// notFound declares that the call names a resource that does not exist.
func notFound(k Call) Call { return k.MustGet(http.StatusNotFound, spec.NotFound) }

// TwoWorkspaces returns two workspaces of the role's admin workspace, the first
// with accounts.
func TwoWorkspaces(api *API, role string) (source, destination profile.Workspace) {
	source, destination, lacks := api.Profile.Moves(role)
	for _, id := range api.IDs {
		if lacks != "" && id.Entry == "admin" && api.sight(id, false) == lookup.Gone {
			Lacks(api, id)
		}
	}
	api.Take(SubWorkspaces(role))
	return source, destination
}

// Move returns the body of an account move.
func Move(source, destination profile.Workspace, emails ...string) map[string]any {
	return fixtures.MoveAccounts(source.ID, destination.ID, emails...)
}

// FreshID returns a version 7 UUID that no server has issued.
func (api *API) FreshID() string {
	api.mu.Lock()
	defer api.mu.Unlock()
	id := fixtures.UnusedID(api.Rng)
	api.Sandbox().Adopt(id)
	return id
}

// draws returns random numbers for one caller. The API may be used by several at the same time.
func (api *API) draws() *rand.Rand {
	api.mu.Lock()
	defer api.mu.Unlock()
	return rand.New(rand.NewPCG(api.Rng.Uint64(), 0))
}

// Word returns a word that occurs nowhere else. It shows that the run drew it.
func (api *API) Word() string {
	api.Begin()
	api.mu.Lock()
	defer api.mu.Unlock()
	return sandbox.Word(api.Run, api.Rng.Uint64()^api.Salt)
}

// UnknownToken is a token that no server has issued. It serves all runs of the process,
// which remembers every token in order to redact it. It shares no part with words, since
// no output shows a part of a token.
var UnknownToken = "unknown-" + strings.ReplaceAll(uuid.NewString(), "-", "")

// OptionalValue returns a valid value for an optional field. What only the
// server can know to be valid (a tag's id, an item's shape) comes from the profile, or
// from rows that the server shows.
func OptionalValue(api *API, field string) (any, bool) {
	var inputs fixtures.Inputs
	w := api.Workspace(dataset.Main)
	switch {
	case field == "campaign_id" && len(w.Campaigns) > 0:
		inputs.CampaignID = w.Campaigns[0]
	case field == "tags" && len(w.Tags) > 0:
		inputs.TagIDs = w.Tags[:1]
	case field == "recipients_labels" && len(w.RecipientsLabels) > 0:
		return w.RecipientsLabels, true
	case field == "automations" && len(w.Automations) > 0:
		return w.Automations, true
	case field == "tags":
		tag, ok := api.shownValue(spec.ListTagMappings, "tag_id")
		id, isText := tag.(string)
		if !ok || !isText {
			return nil, false
		}
		inputs.TagIDs = []string{id}
	case field == "recipients_labels", field == "automations":
		return api.shownValue(spec.ListPlacementTests, field)
	}
	values := fixtures.PlacementTestOptional()
	i := slices.IndexFunc(values, func(f fixtures.OptionalField) bool { return f.Name == field })
	return values[i].Value(inputs)
}

// LackedValue names what would give an optional field a value.
func LackedValue(field string) string {
	switch field {
	case "campaign_id":
		return lackedEntry(dataset.Main, "campaigns", "a campaign")
	case "tags":
		return lackedEntry(dataset.Main, field, "or a row of "+spec.ListTagMappings)
	}
	return lackedEntry(dataset.Main, field, "or an inbox placement test with "+field)
}

// shownValue returns the first value other than null and the empty array that a
// list's rows show for a field. The specs share it. A list that is not implemented shows
// none, but it ends a spec that judges the list too.
func (api *API) shownValue(list, field string) (any, bool) {
	judged := slices.ContainsFunc(api.Spec.Pairs, func(p spec.Pair) bool { return p.Operation == list })
	if !judged && (!api.Has(Implemented(list)) || Service(api, list).Unserved != nil) {
		return nil, false
	}
	value := Fact(api, list, "shows a value of "+field, func(api *API) any {
		for _, row := range Sample(api, api.As(dataset.Main, list)).Rows() {
			value := row.Value[field]
			if items, isArray := value.([]any); value != nil && (!isArray || len(items) > 0) {
				return value
			}
		}
		return nil
	})
	return value, value != nil
}

// WithAllOptional adds every optional field for which there is a value. The test is automated:
// a server may refuse the schedule of another one.
func WithAllOptional(api *API, k Call) Call {
	k = k.WithField("type", 2)
	for _, field := range spec.CreateOptional {
		if value, ok := OptionalValue(api, field); ok {
			k = k.WithField(field, value)
		}
	}
	return k
}

// The ways to lack authorization. credentials.go has those that are almost valid.

func WithoutHeader(k Call) []Call {
	return UnauthorizedFor(spec.AuthHeaderMissing, k.WithKey(client.Key{}))
}

func WithUnknownKey(k Call) []Call {
	return UnauthorizedFor(spec.AuthKeyUnknown, k.WithKey(client.Key{Name: "unknown", Token: UnknownToken}))
}

// UnauthorizedFor declares that the calls lack what the requirement is about.
func UnauthorizedFor(id spec.ID, calls ...Call) []Call {
	for i, k := range calls {
		calls[i] = k.MustGet(http.StatusUnauthorized, id)
	}
	return calls
}

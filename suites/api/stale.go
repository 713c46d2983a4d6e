package api

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/lookup"
	"outreach.example/conformance/spec"
)

// A profile may name what the target does not have. The target cannot be blamed for that, and
// a refusal of such a row shows nothing.

// namedIn returns the ids of the profile that the call names.
func (api *API) namedIn(k Call) (found []lookup.ID) {
	api.Begin()
	add := func(texts ...string) {
		for _, text := range texts {
			if id, ok := api.IDs[strings.ToLower(text)]; ok {
				found = append(found, id)
			}
		}
	}
	add(k.ID)
	for _, name := range slices.Sorted(maps.Keys(k.Query)) {
		add(k.Query[name]...)
	}
	members := k.Members()
	for _, name := range slices.Sorted(maps.Keys(members)) {
		switch value := members[name].(type) {
		case string:
			add(value)
		case []string:
			add(value...)
		case []any:
			for _, item := range value {
				text, _ := item.(string)
				add(text)
			}
		}
	}
	return found
}

// needNamed ends the spec if the call names something of the profile that the target lacks.
func (api *API) needNamed(k Call) {
	for _, id := range api.namedIn(k) {
		// The response to a valid request for a lead or a campaign shows whether it exists.
		ask := id.Role != dataset.Main || k.Operation.ID == spec.CreatePlacementTest
		if api.sight(id, ask && !(k.Allowed.Valid() && slices.Contains(MayRepeat, k.Operation.ID))) == lookup.Gone {
			Lacks(api, id)
		}
	}
}

// askNaming is sendOne for a creation. If the target refuses an id of the profile, and nothing
// shows that the target has it, the refusal is right, and the spec ends once the responses to all calls are judged.
func (api *API) askNaming(k Call, request client.Request) Response {
	ids := api.namedIn(k)
	if !k.Allowed.Valid() || len(ids) == 0 {
		return api.sendOne(k, request)
	}
	var r, open Response
	api.Client.DoWith(api.Ctx, request, func(ex client.Exchange) {
		r = api.judged(k, ex)
		if ex.Status/100 == 4 {
			open = api.judged(k.MayBeRefused(), ex)
		}
	})
	for _, id := range ids {
		if open.Status != 0 && api.sight(id, true) != lookup.There {
			open.lost = &id
			return open
		}
	}
	return r
}

// needKept ends the spec if a creation did not keep an id of the profile, and nothing shows
// that the target has it.
func (api *API) needKept(made Response) {
	shown, _ := json.Marshal(made.Row()) // decoded JSON
	for _, id := range api.namedIn(made.Call) {
		if !bytes.Contains(bytes.ToLower(shown), []byte(strings.ToLower(id.Text))) && api.sight(id, true) != lookup.There {
			Lacks(api, id)
		}
	}
}

// NeedOwner ends the spec if the rows of the role's key show another workspace than the
// profile names, or if it names none.
func NeedOwner(api *API, role string) {
	api.ownerSeen(role)
	api.Take(Owner(role))
}

// ownerSeen ends the spec if the rows of the role's key show another workspace.
func (api *API) ownerSeen(role string) {
	id := api.Owner(role)
	for _, text := range []string{id, api.Profile.AdminOf(id)} {
		if id, ok := api.IDs[strings.ToLower(text)]; ok && api.sight(id, false) == lookup.Gone {
			Lacks(api, id)
		}
	}
}

// Lacks ends the spec because the target does not have the id, as far as it shows.
func Lacks(api *API, id lookup.ID) { panic(skipSpec{id.Lost(), true}) }

// sight returns what the target shows of the id. If nothing does, ask sends a request for it.
func (api *API) sight(id lookup.ID, ask bool) lookup.Sight {
	if id.Entry == "placement_tests" && (api.probes || !api.Serves(spec.GetPlacementTest)) {
		return lookup.Unseen
	}
	seen := api.once(id, false)
	if operation := changes[id.Entry]; seen == lookup.Unseen && ask && operation != "" && !api.probes && api.Serves(operation) {
		return api.once(id, true)
	}
	return seen
}

// once looks or asks once a run.
func (api *API) once(id lookup.ID, ask bool) lookup.Sight {
	how := "looked for"
	if ask {
		how = "asked for"
	}
	return Fact(api, "", strings.Join([]string{how, id.Role, id.Entry, id.Text}, " "), func(api *API) lookup.Sight {
		if ask {
			return api.asked(id)
		}
		seen, err := api.finder.Look(api.Ctx, id)
		if err != nil { // without a response, nothing is seen
			seen = lookup.Unseen
		}
		return seen
	})
}

// changes are the operations that name what no operation shows, or only a list that may be
// too long to read, by the entry.
var changes = map[string]string{"campaigns": spec.AddCampaignVariables, "leads": spec.MoveLead, "subsequences": spec.MoveLead}

// asked sends a valid request that names the id, with the key of its workspace. The id is
// gone if the target answers just as for an id that nothing has.
func (api *API) asked(id lookup.ID) lookup.Sight {
	op, changes := spec.FindOperation(changes[id.Entry])
	if !changes {
		return lookup.Unseen
	}
	key, ok := api.finder.Key(id.Role, op)
	first := func(entry string, ask bool) string { // of those that may exist
		all := lookup.In(api.Profile, id.Role)
		i := slices.IndexFunc(all, func(one lookup.ID) bool {
			return one.Entry == entry && api.sight(one, ask) != lookup.Gone
		})
		if ok = ok && i >= 0; !ok {
			return ""
		}
		return all[i].Text
	}
	move := map[string]any{}
	switch id.Entry {
	case "leads":
		move["subsequence_id"] = first("subsequences", false)
	case "subsequences":
		move["id"] = first("leads", true)
	}
	naming := func(text string) Call {
		k := Call{Operation: op, Key: key}.MayBeRefused()
		switch id.Entry {
		case "leads":
			return k.WithBody(move).WithField("id", text)
		case "subsequences":
			return k.WithBody(move).WithField("subsequence_id", text)
		}
		return k.WithID(text).WithBody(map[string]any{"variables": []string{api.Word()}})
	}
	if !ok || api.Sandbox().Permit(api.Ctx, Change(api, naming(id.Text))) != nil {
		return lookup.Unseen
	}
	unknown := api.FreshID()
	switch r := api.askBeside(naming(id.Text)); {
	case r.OK():
		return lookup.There
	case !api.blamesAnother(r, id) && AnswersAlike(api, r, []string{id.Text}, naming(unknown), unknown):
		return lookup.Gone
	}
	return lookup.Unseen
}

// blamesAnother reports whether the body of the response has another id of the call, and not
// this one: only that one may be unknown.
func (api *API) blamesAnother(r Response, id lookup.ID) bool {
	has := func(one lookup.ID) bool {
		return bytes.Contains(bytes.ToLower(r.Exchange.Body), []byte(strings.ToLower(one.Text)))
	}
	return !has(id) && slices.ContainsFunc(api.namedIn(r.Call), has)
}

// AnswersAlike reports whether the target did not find one of the names of the call in the
// response, and refuses the second call, with a name that nothing has, in the same words.
func AnswersAlike(api *API, r Response, names []string, unknown Call, another string) bool {
	if r.Status != http.StatusNotFound && (r.Call.ID != "" || r.Status != http.StatusBadRequest && r.Status != http.StatusUnprocessableEntity) {
		return false
	}
	without := func(r Response, names ...string) []byte {
		for _, name := range names {
			r.Exchange.Body = bytes.ReplaceAll(r.Exchange.Body, []byte(name), nil)
		}
		return WithoutNumbers(r)
	}
	other := api.askBeside(unknown)
	return r.Status == other.Status && bytes.Equal(without(r, names...), without(other, another))
}

// askBeside sends a call that belongs to no spec.
func (api *API) askBeside(k Call) Response {
	api.Spent(1)
	r := api.sendOne(k, k.request())
	api.record(r)
	return r
}

// WithoutNumbers returns the beginning of the body without digits, decimal or
// hexadecimal: they may be those of a time or of a request.
func WithoutNumbers(r Response) []byte {
	return bytes.Map(func(c rune) rune {
		if strings.ContainsRune("0123456789abcdefABCDEF", c) {
			return -1
		}
		return c
	}, r.Exchange.Body)
}

package suites

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// The optional parts of a request. A server may answer a request with such a part in other
// code, which lacks the check of the key, the plan or the owner.

// optionalPart is a part that a request may have or lack.
type optionalPart struct {
	add        func(Call) Call // adds the part to a request
	open       bool            // no sentence obliges a server to serve it
	parameters []string        // of the query, that x is no value of
}

// optionalParts returns the parts that a request of the operation may have. The values are
// valid and name rows of the role's workspace. A parameter without a name is left out.
func optionalParts(api *API, role string, op spec.Operation) []optionalPart {
	switch {
	case len(op.Query) > 0:
		return optionalParameters(api, role, op)
	case op.ID == spec.CreatePlacementTest:
		another := func(k Call) Call { return k.WithField("name", api.Word()) } // a server may refuse the same name again
		return []optionalPart{
			{add: func(k Call) Call { return withKnownOptional(api, another(k)) }},
			{add: func(k Call) Call { return another(k).WithField("run_immediately", true) }},
		}
	case op.Method == http.MethodDelete: // the specification allows null for a test only
		null := func(k Call) Call { return k.WithBody(Raw("null")) }
		return []optionalPart{{add: null, open: op.ID != spec.DeletePlacementTest}}
	}
	return nil
}

// optionalParameters returns the query parameters of an operation. The limit comes first: its
// page is so short that it has a cursor.
func optionalParameters(api *API, role string, op spec.Operation) (parts []optionalPart) {
	add := func(parameter, value string, open bool) {
		if name, known := api.Profile.Parameter(op.ID, parameter); known {
			part := optionalPart{open: open, add: func(k Call) Call { return k.WithQuery(name, value) }}
			if parameter != profile.ParamSearch {
				part.parameters = []string{name}
			}
			parts = append(parts, part)
		}
	}
	for _, p := range op.Query {
		switch kind := op.Filter(p.Key).Kind; {
		case p.Key == "limit":
			add(p.Key, "1", false)
		case p.Key == profile.ParamStartingAfter:
			if !api.Has(Cursor(op.ID)) {
				continue
			}
			if page := pageWithCursor(api, op); page.Cursor() != "" {
				parts = append(parts, optionalPart{add: func(k Call) Call { return Behind(api, k, page) }})
			}
		case p.Names != "":
			if ids, _, _ := api.Workspace(role).Named(p.Names); len(ids) > 0 {
				add(p.Key, ids[0], false)
			} else {
				add(p.Key, api.FreshID(), true)
			}
		case p.Key == profile.ParamSortOrder:
			add(p.Key, "desc", false)
		case p.Values != nil:
			add(p.Key, p.Values[0], false)
		case kind == spec.From || kind == spec.FromDay:
			if part, named := window(api, op); named {
				parts = append(parts, part)
			}
		case kind == spec.Search || kind == spec.ExactSearch: // the latter takes a URL or an address
			add(p.Key, "conformance", kind == spec.ExactSearch)
		}
	}
	return parts
}

// window returns both ends of a window: a server may need both.
func window(api *API, list spec.Operation) (part optionalPart, named bool) {
	query := oracle.Window(list.ID, oracle.FarPast, oracle.FarFuture)
	part.add = func(k Call) Call { return FilteredBy(api, k, query) }
	for _, key := range slices.Sorted(maps.Keys(query)) {
		if !api.Has(Parameter(list.ID, key)) {
			return part, false
		}
		part.parameters = append(part.parameters, api.Parameter(list.ID, key))
	}
	return part, true
}

// pageWithCursor returns a page of the list that has a cursor if there is one.
func pageWithCursor(api *API, list spec.Operation) Response {
	return Fact(api, list.ID, "shows a page with a cursor", func(api *API) Response {
		return api.Do(api.As(dataset.Main, list.ID).WithQuery("limit", "1").Breaking(spec.Status200))
	})
}

// withKnownOptional adds every optional field of a creation whose value is known without
// reading a list. The test is automated, as that of withAllOptional.
func withKnownOptional(api *API, k Call) Call {
	k = k.WithField("type", 2)
	w := api.Workspace(dataset.Main)
	unknown := map[string]bool{"tags": len(w.Tags) == 0, "recipients_labels": len(w.RecipientsLabels) == 0, "automations": len(w.Automations) == 0}
	for _, field := range spec.CreateOptional {
		if unknown[field] {
			continue
		}
		if value, ok := OptionalValue(api, field); ok {
			k = k.WithField(field, value)
		}
	}
	return k
}

// withEachPart returns the request once with each optional part.
func withEachPart(api *API, role string, k Call) []Call {
	var calls []Call
	for _, part := range optionalParts(api, role, k.Operation) {
		calls = append(calls, part.add(k))
	}
	return calls
}

// withAllParts returns the request with all its optional parts at once; none if it has no
// such parts. A server may refuse them together, so that this shows less than each alone.
func withAllParts(api *API, role string, k Call) []Call {
	parts := optionalParts(api, role, k.Operation)
	if len(parts) == 0 {
		return nil
	}
	return []Call{withParts(k, parts)}
}

func withParts(k Call, parts []optionalPart) Call {
	for _, part := range parts {
		k = part.add(k)
	}
	return k
}

// eachPart returns the changes that add one optional part of the operation's requests.
func eachPart(api *API, op spec.Operation) (all []func(Call) Call) {
	for _, part := range optionalParts(api, AuthorizedRole(op), op) {
		all = append(all, part.add)
	}
	return all
}

// withOtherCase returns the request with its id in upper case letters; none if that has no
// letters. Both cases of a UUID name the same thing (RFC 9562).
func withOtherCase(k Call) []Call {
	id, inBody := k.ID, k.Operation.Subject().In == spec.InBody
	if inBody {
		id, _ = k.Members()["id"].(string)
	}
	upper := strings.ToUpper(id)
	switch {
	case upper == id:
		return nil
	case inBody:
		return []Call{k.WithField("id", upper)}
	}
	return []Call{k.WithID(upper)}
}

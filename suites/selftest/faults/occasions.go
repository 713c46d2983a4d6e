package faults

import (
	"net/http"
	"slices"
	"strings"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// Occasions by any property of the request and the answer.
func always(*exchange) bool        { return true }
func served(x *exchange) bool      { return x.served() }
func not(o occasion) occasion      { return func(x *exchange) bool { return !o(x) } }
func everyThird(x *exchange) bool  { return x.served() && x.memory.count("served")%3 == 0 }
func exceptFirst(x *exchange) bool { return x.served() && x.memory.count("served") > 1 }

// status is an exchange whose answer has one of the statuses.
func status(codes ...int) occasion {
	return func(x *exchange) bool { return x.forward() && slices.Contains(codes, x.answer.Status) }
}

// counted selects exchanges by their number, from 1.
func counted(fits func(n int) bool) occasion {
	return func(x *exchange) bool { return fits(x.memory.count("exchanges")) }
}

func all(occasions ...occasion) occasion {
	return func(x *exchange) bool {
		return !slices.ContainsFunc(occasions, func(o occasion) bool { return !o(x) })
	}
}

func either(occasions ...occasion) occasion {
	return func(x *exchange) bool {
		return slices.ContainsFunc(occasions, func(o occasion) bool { return o(x) })
	}
}

// Occasions by the place of a page in its list.
func lastPage(x *exchange) bool { return x.served() && x.endsList(decodedOrNil(x.answer.Body)) }

// emptyPage is a page without items. In a list that no parameter can empty, it is the last page.
func emptyPage(x *exchange) bool {
	if !x.served() {
		return false
	}
	body := decodedOrNil(x.answer.Body)
	return len(rowsIn(x.Operation, body)) == 0 || len(x.filtersOf(x.Operation)) == 0 && x.endsList(body)
}

// firstPage is a page that is requested without a cursor.
func firstPage(x *exchange) bool {
	cursor, ok := x.Profile.Parameter(x.Operation, profile.ParamStartingAfter)
	return !ok || !x.Query.Has(cursor)
}

// noCursor is a page that leads to no other.
func noCursor(x *exchange) bool { return textOf(x.body(), "next_starting_after") == "" }

// endsList reports whether no page follows the decoded page. A cursor alone does not
// tell: it may lead to an empty page.
func (x *exchange) endsList(body any) bool {
	cursor := textOf(body, "next_starting_after")
	if cursor == "" || len(rowsIn(x.Operation, body)) == 0 {
		return true
	}
	parameter, ok := x.Profile.Parameter(x.Operation, profile.ParamStartingAfter)
	if !ok {
		return false
	}
	r := x.Request.clone()
	r.Query.Set(parameter, cursor)
	r.Query.Set("limit", "1")
	following, ok := x.ask(r)
	rest, isJSON := decode(following.Body)
	return ok && isJSON && len(rowsIn(x.Operation, rest)) == 0
}

// Occasions by the key of the request.
func asks(role string) occasion {
	return func(x *exchange) bool { key, ok := x.asker(); return ok && key.Workspace == role }
}

// validKey is a request with an active key of the profile, paid for or not.
func validKey(x *exchange) bool {
	key, ok := x.asker()
	return ok && key.State != profile.KeyRevoked
}

// holding is a request with an active key whose scopes fit.
func holding(fits func(scopes []string) bool) occasion {
	return func(x *exchange) bool {
		key, ok := x.asker()
		return ok && key.State == profile.KeyActive && fits(key.Scopes)
	}
}

// noScopes is a request with an active key without scopes.
var noScopes = holding(func(scopes []string) bool { return len(scopes) == 0 })

// keyIn is a request with a key of the profile in that state.
func keyIn(state string) occasion {
	return func(x *exchange) bool { key, ok := x.asker(); return ok && key.State == state }
}

// Occasions by the query. Parameters are named by their keys in profiles.
func has(keys ...string) occasion {
	return func(x *exchange) bool {
		return !slices.ContainsFunc(keys, func(key string) bool { return !x.Query.Has(x.parameterName(key)) })
	}
}

func with(key, value string) occasion {
	return func(x *exchange) bool { return x.Query.Has(x.parameterName(key)) && x.param(key) == value }
}

// having is a request whose parameter has a value that fits.
func having(key string, fits func(value string) bool) occasion {
	return func(x *exchange) bool { return x.Query.Has(x.parameterName(key)) && fits(x.param(key)) }
}

// parameterName returns the target's name of the parameter, or its key.
func (x *exchange) parameterName(key string) string {
	if name, ok := x.Profile.Parameter(x.Operation, key); ok {
		return name
	}
	return key
}

// param returns the value of the parameter.
func (x *exchange) param(key string) string { return x.Query.Get(x.parameterName(key)) }

// filtered is a request that selects rows of a list.
func filtered(x *exchange) bool {
	return slices.ContainsFunc(x.filtersOf(x.Operation), x.Query.Has)
}

// paged is a request for a page of any list.
func paged(x *exchange) bool { return isList(x.Request) }

func isList(r Request) bool {
	op, ok := spec.FindOperation(r.Operation)
	return ok && op.Answer == spec.Page
}

// Occasions by the body of the request.
func hasBody(x *exchange) bool { return len(strings.TrimSpace(string(x.Body))) > 0 }

// sending is a request whose body is an object that fits.
func sending(fits func(body fields) bool) occasion {
	return func(x *exchange) bool { body, ok := objectIn(x.Request); return ok && fits(body) }
}

// sends is a request whose body has a value in the field that fits.
func sends(field string, fits func(value any) bool) occasion {
	return sending(func(body fields) bool { value, sent := body[field]; return sent && fits(value) })
}

// lacks is a request whose body has no such field.
func lacks(field string) occasion {
	return sending(func(body fields) bool { _, sent := body[field]; return !sent })
}

// remembered is a request for an id under which the fault has put something.
func remembered(prefix string) occasion {
	return func(x *exchange) bool { return x.memory.has(prefix + x.ID) }
}

// refused is a request that gets a 4xx.
func refused(x *exchange) bool { return x.forward() && x.answer.Status/100 == 4 }

// failed is a request with anything but a 200.
func failed(x *exchange) bool { return x.forward() && x.answer.Status != http.StatusOK }

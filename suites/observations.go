package suites

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// observations asks what the specification leaves open. They judge nothing; what
// they see is part of the target's fingerprint.
func observations() {
	for _, op := range spec.RequestJSON.Operations() {
		Describe(op.ID, func() {
			It("is observed: more than one JSON value", func(api *API) {
				for _, loose := range looseJSON {
					request := api.Request()
					if op.ID == spec.MoveAccounts { // no account that exists may move
						request = request.WithField("emails", []string{api.Word() + "@example.com"})
					}
					api.Observe(spec.OpenPointLooseJSON, "%s: %d", loose.what, api.Do(request.WithBody(Raw(loose.text(string(BodyOf(request))))).MayBeRefused()).Status)
				}
			})
		})
	}
	Describe(spec.MoveLead, func() {
		It("is observed: required fields", func(api *API) {
			for _, field := range []string{"id", "subsequence_id"} {
				moved := api.Do(api.Request().WithField(field, Absent).MayBeRefused())
				api.Observe(spec.OpenPointLeadMoveFields, "without %s: %d", field, moved.Status)
			}
		})
	})
	for _, id := range append(slices.Clone(MayRepeat), spec.CreatePlacementTest) {
		Describe(id, func() {
			It("is observed: a change that is repeated", func(api *API) {
				change := api.Request().MayBeRefused()
				api.Do(change)
				api.Observe(spec.OpenPointRepeatedChange, "%d", api.Do(change).Status)
			})
		})
	}
	Describe(spec.MoveAccounts, func() {
		It("is observed: required fields, unknown accounts and workspaces", func(api *API) {
			// Whatever a server makes of these, no account that exists may move.
			unknown := api.Request().WithField("emails", []string{api.Word() + "@example.com"}).MayBeRefused()
			api.Observe(spec.OpenPointAccountFields, "without emails: %d", api.Do(api.HarmlessRequest().WithField("emails", Absent)).Status)
			api.Observe(spec.OpenPointUnknownAccount, "%d", api.Do(unknown).Status)
			for _, field := range []string{"source_workspace_id", "destination_workspace_id"} {
				api.Observe(spec.OpenPointAccountFields, "without %s: %d", field, api.Do(unknown.WithField(field, Absent)).Status)
				api.Observe(spec.OpenPointUnknownWorkspace, "unknown %s: %d", field, api.Do(unknown.WithField(field, api.FreshID())).Status)
			}
		})
	})
	Describe(spec.CreatePlacementTest, func() {
		It("is observed: email service provider options", observeOptions)
	})
	for _, op := range spec.PageLimitAbsent.Operations() {
		Describe(op.ID, func() {
			It("is observed: an unknown cursor", Needs(Cursor(op.ID)), func(api *API) {
				list := api.Request()
				api.Observe(spec.OpenPointUnknownCursor, "%d", api.Do(list.WithQuery(CursorParameter(api, op), "conformance").MayBeRefused()).Status)
			})
		})
	}
	for _, op := range spec.Operations() {
		Describe(op.ID, func() {
			It("is observed: a method that the path does not have", observeOtherMethod)
		})
	}
}

// observeOtherMethod asks for the methods of the path. OPTIONS is safe (RFC 9110, section
// 9.2.1): a server does nothing else for it.
func observeOtherMethod(api *API) {
	op := api.Operation()
	EndIf(api, api.Sandbox().Afford())
	ex := api.SendUnspecified(api.Ctx, client.Request{Operation: op.ID, Method: http.MethodOptions, Path: op.URLPath(api.FreshID()), Key: Key(api, AuthorizedRole(op))})
	if ex.Err != nil {
		Stop(api, Response{Exchange: ex})
	}
	allowed := "no Allow"
	if methods := ex.Header.Values("Allow"); len(methods) > 0 {
		allowed = "Allow: " + strings.Join(methods, ", ")
	}
	api.Observe(spec.OpenPointOtherMethods, "OPTIONS: %d, %s", ex.Status, allowed)
}

// looseJSON are ways to write an object that only lenient parsers accept. A member that
// is repeated has the same value.
var looseJSON = []struct {
	what string
	text func(object string) string
}{
	{"trailing content", func(object string) string { return object + "}" }},
	{"a comment", func(object string) string { return "/* a comment */" + object }},
	{"a trailing comma", func(object string) string { return strings.TrimSuffix(object, "}") + ",}" }},
	{"a repeated member", withRepeatedMember},
}

// withRepeatedMember repeats one member of an object.
func withRepeatedMember(object string) string {
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(object), &members); err != nil {
		panic(fmt.Sprintf("suites: %s is no object: %v", object, err))
	}
	name := slices.Sorted(maps.Keys(members))[0]
	return fmt.Sprintf("{%q:%s,%s", name, members[name], strings.TrimPrefix(object, "{"))
}

// observeOptions looks at the 19th path. The specification shows only its address.
func observeOptions(api *API) {
	r := askOptions(api, api.As(dataset.Main, spec.CreatePlacementTest))
	form := "no JSON"
	if body, err := schemas.Decode(r.Body); err == nil {
		form = fmt.Sprintf("a JSON %s", OuterForm(body))
	}
	api.Observe(spec.OpenPointESPOptions, "%d, %s", r.Status, form)
}

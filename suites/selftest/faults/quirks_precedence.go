package faults

import (
	"slices"

	"outreach.example/conformance/spec"
)

// precedenceQuirks check a request in another order than the reference server, which checks
// key, limit, plan, permission, validity and existence. A request with a single error gets
// the same answer.
func precedenceQuirks() []Quirk {
	const allowed = "SILENT-PRECEDENCE"
	return []Quirk{
		quirk("precedence/validity-first", allowed, "precedence", "answers 400 to an invalid request before it checks plan, limit, permission and existence",
			when(all(status(402, 403, 404, 429), not(wellFormed)), refuse(400))),
		quirk("precedence/path-first", allowed, "unknown path", "answers 404 to an unknown path before it checks the key",
			on(anyPath, unknownPath, refuse(404))),
		quirk("precedence/malformed-id-unknown-path", allowed, "unknown path, precedence",
			"takes a path whose id is not a UUID for an unknown path, and answers 404 to it before it checks the key",
			on(anyPath, either(unknownPath, malformedID), refuse(404))),
		// A deletion over the limit names nothing that exists, because the data must last.
		quirk("precedence/existence-first", allowed, "precedence", "answers 404 to a missing resource before it checks plan, limit and permission",
			when(all(status(402, 403, 429), namesMissing), refuse(404))).but("RATE-429 on *.delete", "ERROR-429-* on *.delete", "RATE-NO-EFFECT on inbox-placement-tests.delete"),
	}
}

func unknownPath(x *exchange) bool { return x.Operation == "" && x.Path != spec.OptionsPath }

func malformedID(x *exchange) bool {
	op, ok := spec.FindOperation(x.Operation)
	return ok && op.HasPathID() && !isUUID(x.ID)
}

// wellFormed is a request whose id and body have the documented form, whatever their values.
func wellFormed(x *exchange) bool {
	op, body := spec.MustOperation(x.Operation), x.sent()
	needed := op.Required
	if x.Operation == spec.MoveLead { // has no meaning without them
		needed = op.Optional
	}
	return !malformedID(x) && !slices.ContainsFunc(needed, func(name string) bool { return body[name] == nil })
}

// namesMissing is a request for what does not exist in the profile of the key's workspace nor, if
// it is a test, by a get.
func namesMissing(x *exchange) bool {
	own := x.listedIDs(true)
	missing := slices.ContainsFunc(x.namedIDs(), func(id string) bool { return id != "" && !slices.Contains(own, id) })
	if missing && spec.MustOperation(x.Operation).Resource == "InboxPlacementTest" {
		_, found := x.ask(x.redirected(spec.GetPlacementTest, x.ID).withToken(x.fullKey(x.Operation)))
		return !found
	}
	return missing && !paged(x)
}

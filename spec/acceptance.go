package spec

// acceptanceRequirements say that a server takes every form of a valid request, and
// understands it.
func acceptanceRequirements() []Requirement {
	return []Requirement{
		{ID: "REQUEST-ORDER", Level: derived, Group: GroupRequests, Profile: ProfileWrite,
			Statement:  "The order of the members of a request body makes no difference.",
			Reasoning:  "A body is a JSON object, and the members of an object have no order (RFC 8259, section 1).",
			Section:    "What the service does (all endpoints use JSON)",
			Method:     "The members of a valid body are sent in alphabetical and in reverse order. The response and a get must show their values.",
			Operations: ops(func(o Operation) bool { return len(o.Required)+len(o.Optional) > 1 })},
		{ID: "REQUEST-OPTIONAL", Level: stated, Group: GroupRequests, Profile: ProfileWrite,
			Statement: "A test may be created with any choice of the optional fields.",
			Section:   "Endpoints / Inbox placement tests",
			Method: "Bodies have all optional fields, all but one, and the values of the example in the OpenAPI document. " +
				"Such a test is paused and goes to reserved addresses, so that no email is sent.",
			Operations: []string{CreatePlacementTest}},
		{ID: "REQUEST-NULL-BODY", Level: stated, Group: GroupRequests, Profile: ProfileWrite,
			Statement: "A test is deleted by a request whose body is null, as by one without a body.",
			Section:   "Endpoints / Inbox placement tests",
			Method:    "A created test is deleted with the body null. A get must then answer 404.", Operations: []string{DeletePlacementTest}},
		{ID: "QUERY-ACCEPTED", Level: stated, Group: GroupFilters, Profile: ProfileRead,
			Statement: "Every documented value of a query parameter is accepted.",
			Section:   "Endpoints",
			Method: "Each value of a set, both booleans, leap days and texts with special characters are sent, one parameter at a time. " +
				"No row may be shown that the value leaves out.",
			Operations: filteredOps(1, func(f Filter) bool { return f.Kind != AnyOf })},
		{ID: "OPTIONS-SERVED", Level: derived, Group: GroupRequests, Profile: ProfileRead,
			Statement:  "A valid request for the provider options gets a 200 with JSON, or a refusal: never a redirect or a server error.",
			Reasoning:  "All endpoints return JSON, and nothing in the specification allows another status. The path is only referenced, so a server may lack it.",
			Section:    "Endpoints / Inbox placement tests; What the service does",
			Method:     "The path is requested with the all:all key. The shape of the JSON is not shown. 501 passes, like 404 and 405.",
			Operations: []string{CreatePlacementTest}},
	}
}

package spec

// keyRequirements are the rules on keys: authentication and scopes.
func keyRequirements() []Requirement {
	auth := func(id, statement, method string) Requirement {
		return Requirement{ID: id, Level: Stated, Group: GroupKeys, Profile: ProfileScopes, Statement: statement,
			Section: "Authentication, rule 3; Errors", Method: method, Operations: allOps()}
	}
	accepts := func(id, which string) Requirement {
		return Requirement{ID: id, Level: Stated, Group: GroupKeys, Profile: ProfileScopes,
			Statement: "A key whose only scope is " + which + " may make the request.",
			Section:   "Authentication, rule 2; Endpoints", Method: "A valid request with such a key must be answered with 200.", Operations: scopedOps()}
	}
	refuses := func(id, which, method string) Requirement {
		return Requirement{ID: id, Level: Stated, Group: GroupKeys, Profile: ProfileScopes,
			Statement: "A key " + which + " is refused: neither served nor answered with a server error.",
			Section:   "Authentication, rule 2", Method: method + " Which 4xx status refuses it is observed.", Operations: scopedOps()}
	}
	return []Requirement{
		auth("AUTH-HEADER-MISSING", "A request without an Authorization header is answered with 401.",
			"The request is sent without the header."),
		auth("AUTH-SCHEME-OTHER", "A request whose Authorization header is not of the Bearer scheme is answered with 401.",
			"A valid key is sent as Basic credentials."),
		auth("AUTH-TOKEN-EMPTY", "A request whose Bearer token is empty is answered with 401.",
			"“Bearer” is sent with nothing behind it."),
		auth("AUTH-KEY-UNKNOWN", "A request with a key that was never issued is answered with 401.",
			"A random token is sent."),
		auth("AUTH-KEY-REVOKED", "A request with a revoked key is answered with 401.",
			"The revoked key of the profile is sent."),
		accepts("SCOPE-EXACT", "<resource>:<action>"),
		accepts("SCOPE-RESOURCE-ALL", "<resource>:all"),
		accepts("SCOPE-ALL-ACTION", "all:<action>"),
		accepts("SCOPE-ALL-ALL", "all:all"),
		refuses("SCOPE-NONE", "without any scope", "A valid request is made with a key that has no scope."),
		refuses("SCOPE-WRONG-RESOURCE", "for the right action on another resource only", "A valid request is made with a key whose only scope names another resource."),
		refuses("SCOPE-WRONG-ACTION", "for another action on the right resource only", "A valid request is made with keys whose only scope names another action, on this resource and on all."),
		{ID: "ADMIN-KEY", Level: Stated, Group: GroupKeys, Profile: ProfileAdmin,
			Statement: "Accounts are not moved for a key of a workspace that is not an admin workspace.",
			Section:   "Endpoints / Accounts; Authentication, rule 4",
			Method:    "A move that is valid otherwise is asked for with keys of the source workspace and of a stranger; it must be refused and the account must still be in its place.", Operations: []string{MoveAccounts}},
		{ID: "ADMIN-SAME", Level: Stated, Group: GroupKeys, Profile: ProfileAdmin,
			Statement: "Accounts are not moved between workspaces that do not share one admin workspace.",
			Section:   "Endpoints / Accounts; Authentication, rule 4",
			Method:    "The destination, then the source, is a workspace under another admin workspace; the move must be refused.", Operations: []string{MoveAccounts}},
	}
}

package suites

import "outreach.example/conformance/suites/tree"

// Tree has the specs of each resource with rules of its own, then those of each rule that cuts
// across operations.
var Tree = tree.Of(
	campaigns, leads, accounts, inboxPlacementTests, inboxPlacementReports, subsequences, workspaceMembers, webhookEvents,

	resources, served, statuses, authentication, scopes, viewsOfKeys, effects, sideEffects, errorResponses, providerOptions, pagination, filters, queries, queryValues, requests, acceptance, isolation,
	rateLimits, observations,
)

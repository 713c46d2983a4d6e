package spec

import "strconv"

// ErrorText is the `error` member that the table of the section Errors gives
// each status.
var ErrorText = map[int]string{
	401: "Unauthorized",
	402: "Payment Required",
	404: "Not Found",
	429: "Too Many Requests",
}

// errorRequirements are the bodies of the four documented errors.
func errorRequirements() []Requirement {
	kinds := []struct {
		status  int
		profile Profile
		how     string
		ops     []string
	}{
		{401, ProfileScopes, "requests without valid authorization", allOps()},
		{402, ProfileBilling, "valid requests for a workspace without a paid plan", allOps()},
		{404, ProfileRead, "requests that name a resource that does not exist", notFoundOps()},
		{429, ProfileRateLimit, "requests beyond the rate limit", allOps()},
	}
	var table []Requirement
	for _, k := range kinds {
		status := strconv.Itoa(k.status)
		add := func(part string, level Level, statement, reasoning string) {
			table = append(table, Requirement{
				ID: "ERROR-" + status + "-" + part, Level: level, Group: GroupErrors, Profile: k.profile,
				Statement: statement, Reasoning: reasoning, Section: "Errors",
				Method: "Every " + status + " answer in any check is judged; " + k.how + " provoke them.", Operations: k.ops,
			})
		}
		add("BODY", Stated, "The body of a "+status+" answer is a JSON object.", "")
		add("CONTENT_TYPE", Derived, "A "+status+" answer announces JSON in its Content-Type.",
			"Error responses are JSON objects; a client that reads the header must be able to tell.")
		add("STATUSCODE", Stated, "statusCode of a "+status+" answer is the number "+status+".", "")
		add("ERROR", Stated, "error of a "+status+" answer is the string “"+ErrorText[k.status]+"”.", "")
		add("MESSAGE", Stated, "message of a "+status+" answer is a string that is not empty.", "")
	}
	return join(table, []Requirement{
		{ID: "NOT-FOUND", Level: Stated, Group: GroupErrors, Profile: ProfileRead,
			Statement: "A valid request for a resource id that does not exist is answered with 404.",
			Section:   "Errors", Method: "A fresh version 7 UUID takes the place of the id; for the lead move, of the lead's id.", Operations: notFoundOps()},
		{ID: "NOT-FOUND-SUBSEQUENCE", Level: Stated, Group: GroupErrors, Profile: ProfileWrite,
			Statement: "Moving an existing lead to a subsequence that does not exist is answered with 404.",
			Section:   "Errors; Endpoints / Leads", Method: "A fresh version 7 UUID takes the place of subsequence_id.", Operations: []string{MoveLead}},
		{ID: "BILLING-402", Level: Stated, Group: GroupBilling, Profile: ProfileBilling,
			Statement: "A valid request for a workspace without an active paid plan is answered with 402.",
			Section:   "Errors", Method: "A request that is valid in every other respect is made with a key of the unpaid workspace, naming that workspace's own data.", Operations: allOps()},
	})
}

// notFoundOps name one resource that may not exist.
func notFoundOps() []string {
	return []string{AddCampaignVariables, MoveLead, GetPlacementTest, DeletePlacementTest, DeleteSubsequence}
}

func rateRequirements() []Requirement {
	return []Requirement{
		{ID: "RATE-429", Level: Stated, Group: GroupRate, Profile: ProfileRateLimit,
			Statement: "A request beyond the rate limit is answered with 429.",
			Section:   "Errors; Limits", Method: "With the key that the profile hands over for it, the limit that the profile promises is exceeded within its window, up to the profile's request budget; no excess request may be answered with another error.", Operations: allOps()},
		{ID: "RATE-RESUMES", Level: Derived, Group: GroupRate, Profile: ProfileRateLimit,
			Statement: "Once the limit's period has passed, the same valid request is served again.",
			Reasoning: "A rate limit counts requests per period; a key that stays refused for ever is not limited but revoked.",
			Section:   "Limits", Method: "After a 429 the request is repeated, waiting as Retry-After says or backing off, until it is served.", Operations: listOps()},
	}
}

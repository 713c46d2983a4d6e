package spec

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"
)

//go:embed specification.md
var specification string

// Quote is a line of the specification, with the headings above it.
type Quote struct{ Section, Text string }

// Quotes returns the lines of the specification from which the requirement follows:
// sentences, items of lists and rows of tables.
func Quotes(r Requirement) []Quote {
	var quotes []Quote
	add := func(q Quote) {
		if q.Text != "" && !slices.Contains(quotes, q) {
			quotes = append(quotes, q)
		}
	}
	for _, f := range fields {
		if a := aspectOf(r, f); a != "" && f.Resource != "AccountMove" {
			add(fieldRow(f.Resource, f.Path))
			for _, text := range formats(a, f) {
				add(quote(text))
			}
		}
	}
	for _, text := range quotedFor(r.ID) {
		add(quote(text))
	}
	if field, ok := bodyField(r.ID); ok {
		add(fieldRow("InboxPlacementTest", field))
	}
	return quotes
}

// aspectOf returns the aspect of the field that the requirement is about; "" if it is
// about something else.
func aspectOf(r Requirement, f Field) Aspect {
	for _, a := range []Aspect{Type, Value, Present} {
		if r.ID == f.Requirement(a) {
			return a
		}
	}
	return ""
}

// formats are the sentences about the values of many fields.
func formats(a Aspect, f Field) []string {
	switch {
	case a != Value:
		return nil
	case strings.HasPrefix(f.Value, "a UUID of version 7"):
		return []string{"Identifiers (`id` and fields"}
	case strings.Contains(f.Value, "ISO 8601"):
		return []string{"Timestamps are ISO 8601"}
	case f.Resource == "Campaign" && f.Path == "status":
		return []string{"Campaign status values:"}
	}
	return nil
}

// bodyField returns the field of a placement test that a requirement on requests is about.
func bodyField(id string) (field string, ok bool) {
	for _, prefix := range []string{"REQUEST-INVALID-", "STATE-CREATE-", "STATE-READ_ONLY-"} {
		if name, found := strings.CutPrefix(id, prefix); found {
			r, _ := FindRequirement(id)
			return strings.ToLower(name), strings.Contains(r.Section, "Inbox placement test")
		}
	}
	return "", false
}

// headings maps resources to the headings of their field tables that are more than the
// resource's name in words.
var headings = map[string]string{
	"Subsequence": "Campaign subsequence", "InboxPlacementReport": "Inbox placement blacklist and spam-filter report",
	"DFYEmailAccountOrder": "Done-for-you email account order", "WebhookEvent": "Webhook event (delivery attempt record)",
	"Sequence": "Sequence (used by campaigns and subsequences)",
}

// heading returns the heading of the resource's field table.
func heading(resource string) string {
	words := strings.ToLower(strings.ReplaceAll(upperSnake(resource), "_", " "))
	return cmp.Or(headings[resource], strings.ToUpper(words[:1])+words[1:])
}

// fieldRow returns the table row of a field, or of the innermost object around it that
// has one. The zero Quote means that there is none.
func fieldRow(resource, path string) Quote {
	section := heading(resource)
	if _, step, ok := strings.Cut(path, "sequences."); ok {
		section, path = heading("Sequence"), step
		if found := rowBelow(section, step); found.Text == "" {
			return quote("The element has `steps` (required array)")
		}
	}
	return rowBelow(section, path)
}

// rowBelow searches the rows below the heading for each part of the path in turn.
func rowBelow(heading, path string) Quote {
	var found Quote
	_, rest, _ := strings.Cut(specification, "\n### "+heading+"\n")
	rest, _, _ = strings.Cut(rest, "\n### ")
	for part := range strings.SplitSeq(path, ".") {
		for i, line := range lines(rest) {
			if slices.Contains(firstCell(line), part) {
				found = Quote{"Resources and their fields / " + heading, plain(line)}
				rest = strings.Join(lines(rest)[i+1:], "\n")
				break
			}
		}
	}
	return found
}

// firstCell returns the names in the first cell of a table row; none for other lines.
func firstCell(line string) []string {
	cells, isRow := strings.CutPrefix(line, "| ")
	if !isRow {
		return nil
	}
	first, _, _ := strings.Cut(cells, " |")
	return strings.Split(first, ", ")
}

// quote returns the line that holds the text, and the headings above it.
func quote(text string) Quote {
	before, after, found := strings.Cut(specification, text)
	if !found {
		return Quote{}
	}
	section := ""
	for _, line := range lines(before) {
		if name, ok := strings.CutPrefix(line, "## "); ok {
			section = name
		} else if name, ok := strings.CutPrefix(line, "### "); ok {
			top, _, _ := strings.Cut(section, " / ")
			section = top + " / " + name
		}
	}
	begin := before[strings.LastIndex(before, "\n")+1:]
	rest, _, _ := strings.Cut(after, "\n")
	return Quote{section, plain(begin + text + rest)}
}

// plain returns a line without the marks of its list or table.
func plain(line string) string {
	line = strings.TrimPrefix(strings.TrimSpace(line), "- ")
	line = strings.TrimSuffix(strings.TrimPrefix(line, "| "), " |")
	return strings.ReplaceAll(line, "**", "")
}

func lines(text string) []string { return strings.Split(text, "\n") }

// quotedFor returns the quotes of the longest entry of quoted with which the id begins.
func quotedFor(id string) []string {
	for at := len(id); at > 0; at = strings.LastIndex(id[:at], "-") {
		if texts, ok := quoted[id[:at]]; ok {
			return texts
		}
	}
	return nil
}

// What several entries of quoted name.
const (
	returnsJSON  = "All endpoints use `Content-Type: application/json` for request bodies and return JSON."
	nextPage     = "To fetch the next page, pass that value as `starting_after`"
	sortedByID   = "Results are sorted by id"
	errorBody    = "Error responses are JSON objects"
	row401       = "| 401 | Unauthorized |"
	row402       = "| 402 | Payment Required |"
	row404       = "| 404 | Not Found |"
	row429       = "| 429 | Too Many Requests |"
	optionsPath  = "**GET `/api/v2/inbox-placement-tests/email-service-provider-options`**"
	fourErrors   = "Every endpoint above can return these four."
	testBody     = "Body required fields: name, type"
	listQuery    = "`sort_order` (`asc` or `desc`"
	eventsQuery  = "a boolean filter on success"
	reportsQuery = "a uuid filter (presumably the test)"
	subsequences = "a campaign ID to list the subsequences of"
	leadMoveBody = "Body: `{subsequence_id: string uuid"
	accountsBody = "Body: `{emails: array of string"
	returnsTest  = "- 200: the Inbox placement test."
	workspaceKey = "where the token is the workspace API key"
	workspaces   = "Within workspaces (organizations) it manages"
)

// quoted holds parts of lines of the specification by the beginning of requirement ids,
// up to a hyphen. The longest one applies.
var quoted = map[string][]string{
	"SERVED": {"Every endpoint requires the Authorization header", "The API is version 2"},

	"STATUS-200":         {"- 200: the Campaign object.", "- 200: `{items: [Campaign subsequence]"},
	"STATUS-ALLOWED":     {"- 200: the Campaign object.", "Error responses are JSON objects with required fields", "Every endpoint above can return these four."},
	"BODY-JSON":          {returnsJSON},
	"BODY-TYPE":          {"- 200: the Campaign object.", "200: a plain JSON array"},
	"CONTENT-TYPE":       {returnsJSON},
	"SHAPE-ACCOUNT_MOVE": {"200: `{status: \"success\"}`"},

	"PAGE-ITEMS":       {"Response body is `{items: array"},
	"PAGE-CURSOR-TYPE": {"Response body is `{items: array"},
	"PAGE-CURSOR":      {nextPage},
	"PAGE-LIMIT":       {"Query parameter `limit` is an integer"},
	"PAGE-WALK":        {nextPage, sortedByID},
	"LIST-ROWS-ONCE":   {"No parameters. 200: a plain JSON array"},
	"LIST-SAME-VALUES": {nextPage, sortedByID},
	"PAGE-INSERT":      {nextPage, sortedByID},
	"PAGE-REMOVE":      {nextPage, sortedByID},
	"PAGE-ORDER":       {sortedByID},
	"SORT":             {listQuery},

	"ERROR-401":             {errorBody, row401},
	"ERROR-402":             {errorBody, row402},
	"ERROR-404":             {errorBody, row404},
	"ERROR-429":             {errorBody, row429},
	"NOT-FOUND":             {row404},
	"NOT-FOUND-LEAD":        {leadMoveBody, row404},
	"NOT-FOUND-SUBSEQUENCE": {leadMoveBody, row404},
	"BILLING":               {row402, fourErrors},
	"AUTH":                  {"3. When the Authorization header is missing or invalid", row401},
	"SCOPE":                 {"2. Each operation requires one of four scopes"},
	"SCOPE-SAME":            {workspaceKey, "2. Each operation requires one of four scopes"},
	"OPTIONS-AUTH":          {optionsPath, "Every endpoint requires the Authorization header", row401},
	"OPTIONS-SCOPE":         {optionsPath, "2. Each operation requires one of four scopes"},
	"OPTIONS-BILLING":       {optionsPath, row402, fourErrors},
	"OPTIONS-RATE":          {optionsPath, row429, fourErrors},
	"ADMIN":                 {"Must be called only with an admin workspace API key", "4. Moving accounts between workspaces"},

	"FILTER-SEARCH":             {listQuery, subsequences, "an interest status filter", "a boolean filter for whether the list"},
	"FILTER-SEARCH_MEMBER":      {"a search string matched against name or email"},
	"FILTER-SEARCH_URL":         {eventsQuery},
	"FILTER-SEARCH_EMAIL":       {eventsQuery},
	"FILTER-STATUS":             {listQuery},
	"FILTER-TEST":               {reportsQuery},
	"FILTER-PARENT":             {subsequences},
	"FILTER-PARENT_NOT":         {subsequences},
	"FILTER-ACCEPTED":           {"a boolean filter on invitation acceptance"},
	"FILTER-RESOURCE_IDS":       {"a comma-separated list of resource IDs"},
	"FILTER-INTEREST":           {"an interest status filter"},
	"FILTER-ENRICHMENT":         {"a boolean filter for whether the list"},
	"FILTER-SUCCESS":            {eventsQuery},
	"FILTER-WINDOW":             {reportsQuery},
	"FILTER-DAYS":               {eventsQuery},
	"FILTER-SKIP_SPAM_ASSASSIN": {reportsQuery},
	"FILTER-SKIP_BLACKLIST":     {reportsQuery},
	"FILTER-WALK":               {nextPage},
	"FILTER-COMBINED":           {nextPage, listQuery, reportsQuery, subsequences, eventsQuery},

	"REQUEST-JSON":                             {returnsJSON},
	"REQUEST-OBJECT":                           {testBody, "Body: `{variables: array of string}`", leadMoveBody, accountsBody},
	"REQUEST-PATH-ID":                          {"Path: `id` uuid, required, campaign ID."},
	"REQUEST-REQUIRED":                         {testBody},
	"REQUEST-REQUIRED-VARIABLES":               {"Body: `{variables: array of string}`"},
	"REQUEST-INVALID":                          {testBody},
	"REQUEST-INVALID-VARIABLES":                {"Body: `{variables: array of string}`"},
	"REQUEST-INVALID-ID":                       {leadMoveBody},
	"REQUEST-INVALID-SUBSEQUENCE_ID":           {leadMoveBody},
	"REQUEST-INVALID-ACCOUNT_EMAILS":           {accountsBody},
	"REQUEST-INVALID-SOURCE_WORKSPACE_ID":      {accountsBody},
	"REQUEST-INVALID-DESTINATION_WORKSPACE_ID": {accountsBody},
	"REQUEST-NO-EFFECT":                        {"Path: `id` uuid, required, campaign ID.", "Request body null or absent.", accountsBody},
	"REQUEST-ORDER":                            {returnsJSON},
	"REQUEST-OPTIONAL":                         {testBody},
	"REQUEST-NULL-BODY":                        {"Request body null or absent."},
	"QUERY-ACCEPTED":                           {listQuery, reportsQuery, subsequences, "a search string matched against name or email", "an interest status filter", "a boolean filter for whether the list", eventsQuery},
	"OPTIONS-SERVED":                           {returnsJSON, optionsPath},
	"REQUEST-EMAILS-EMPTY":                     {accountsBody, "| emails array | accounts move |"},

	"STATE-CREATE":          {testBody, returnsTest},
	"STATE-CREATE-NULL":     {"| description | string or null |"},
	"STATE-CREATE-DISTINCT": {"**POST `/api/v2/inbox-placement-tests`** Create.", "Identifiers (`id` and fields"},
	"STATE-GET-LIST":        {"**GET `/api/v2/inbox-placement-tests`** List.", "**GET `/api/v2/inbox-placement-tests/{id}`** Get."},
	"STATE-DELETE":          {"**DELETE `/api/v2/inbox-placement-tests/{id}`** Delete.", "**DELETE `/api/v2/subsequences/{id}`** Delete."},
	"STATE-DELETE-ANSWER":   {"- 200: the deleted Inbox placement test.", "- 200: the deleted Campaign subsequence."},
	"STATE-DELETE-GET":      {"**DELETE `/api/v2/inbox-placement-tests/{id}`** Delete.", row404},
	"STATE-DELETE-AGAIN":    {"**DELETE `/api/v2/inbox-placement-tests/{id}`** Delete.", "**DELETE `/api/v2/subsequences/{id}`** Delete.", row404},
	"STATE-DELETE-MOVE":     {"**POST `/api/v2/leads/subsequence/move`**", row404},
	"META":                  {"Query `with_metadata` boolean"},
	"META-ELSEWHERE":        {"| metadata | object |"},

	"VARIABLES-CAMPAIGN":    {"- 200: the Campaign object."},
	"LEAD-MOVE-LEAD":        {leadMoveBody, "- 200: the Lead object."},
	"LEAD-MOVE-SUBSEQUENCE": {"The one state-like change shown elsewhere", leadMoveBody},
	"ACCOUNTS-MOVED":        {"**POST `/api/v2/accounts/move`**", accountsBody},
	"DATE-OF-TIMESTAMP":     {"Timestamps are ISO 8601", "| timestamp_created_date |"},
	"EVENT":                 {"1. An attempt is a success or not", "2. When an attempt fails"},
	"ISOLATION":             {workspaceKey, workspaces},
	"ISOLATION-ACCOUNTS":    {workspaceKey, "Must be called only with an admin workspace API key"},
	"RATE-429":              {row429, "Exceeding the rate limit returns 429."},
	"RATE-NO-EFFECT":        {row429, "Exceeding the rate limit returns 429."},
	"RATE-RESUMES":          {"Exceeding the rate limit returns 429."},
}

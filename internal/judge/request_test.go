package judge

import (
	"slices"
	"strings"
	"testing"

	"outreach.example/conformance/spec"
)

// What the request says of the answer is judged where the one who asked says it,
// and only there.
func TestAnswersAreHeldAgainstTheRequest(t *testing.T) {
	test := row(t, "InboxPlacementTest", nil)
	id, _ := test["id"].(string)
	const other = "0199ffff-0000-7000-8000-000000000000"
	for name, tc := range map[string]struct {
		operation    string
		rows         int
		limit        int
		id           string
		sees, breaks string
	}{
		"more rows than the limit":       {spec.ListPlacementTests, 2, 1, "", "PAGE-LIMIT-HONOURED", "PAGE-LIMIT-HONOURED"},
		"as many rows as the limit":      {spec.ListPlacementTests, 2, 2, "", "PAGE-LIMIT-HONOURED", ""},
		"no rows":                        {spec.ListPlacementTests, 0, 1, "", "", ""},
		"a limit that is not known":      {spec.ListPlacementTests, 2, 0, "", "", ""},
		"another test":                   {spec.GetPlacementTest, 1, 0, other, "STATE-GET-LIST", "STATE-GET-LIST"},
		"the test":                       {spec.GetPlacementTest, 1, 0, id, "STATE-GET-LIST", ""},
		"the test in capitals":           {spec.GetPlacementTest, 1, 0, strings.ToUpper(id), "STATE-GET-LIST", ""},
		"a test that nobody names":       {spec.GetPlacementTest, 1, 0, "", "", ""},
		"another test than was deleted":  {spec.DeletePlacementTest, 1, 0, other, "STATE-DELETE-ANSWER", "STATE-DELETE-ANSWER"},
		"an id of which nothing is said": {spec.CreatePlacementTest, 1, 0, other, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := look(t, Asked{Operation: spec.MustOperation(tc.operation), Valid: true, Limit: tc.limit, ID: tc.id}, answer(t, tc.operation, slices.Repeat([]map[string]any{test}, tc.rows)...))
			for _, requirement := range []string{"PAGE-LIMIT-HONOURED", "STATE-GET-LIST", "STATE-DELETE-ANSWER"} {
				if saw(s, requirement) != (requirement == tc.sees) {
					t.Errorf("%s is put to the test: %v", requirement, saw(s, requirement))
				}
				if slices.Contains(broken(s), requirement) != (requirement == tc.breaks) {
					t.Errorf("broken are %q", broken(s))
				}
			}
		})
	}
}

package judge

import (
	"fmt"
	"strings"

	"outreach.example/conformance/spec"
)

// fits judges what the request itself says of the answer, as far as whoever sent
// it has said so in asked.
func (s *sighter) fits(asked Asked) {
	s.limit(asked.Limit)
	s.id(asked.ID)
}

// limit judges that a page is no longer than the limit. A page without rows is
// shorter than every limit, which is no merit of the server's.
func (s *sighter) limit(limit int) {
	const requirement = "PAGE-LIMIT-HONOURED"
	if limit == 0 || len(s.Rows) == 0 || !s.bound(requirement) {
		return
	}
	s.see(requirement)
	if n := len(s.Rows); n > limit {
		s.find(requirement, "/items", fmt.Sprintf("at most %d items", limit), fmt.Sprintf("%d items", n))
	}
}

// aboutID is the requirement that an operation breaks when it answers with
// another resource than the one whose id was in the path.
var aboutID = map[string]string{
	spec.GetPlacementTest:    "STATE-GET-LIST",
	spec.DeletePlacementTest: "STATE-DELETE-ANSWER",
	spec.DeleteSubsequence:   "STATE-DELETE-ANSWER",
}

// id judges that the answer is the resource that was asked for. In which case a
// UUID is written is not shown.
func (s *sighter) id(want string) {
	requirement := aboutID[s.op.ID]
	if want == "" || requirement == "" || len(s.Rows) != 1 {
		return
	}
	got, isText := s.Rows[0]["id"].(string)
	if !isText {
		return // which the schemas have found
	}
	s.see(requirement)
	if !strings.EqualFold(want, got) {
		s.find(requirement, "/id", want, got)
	}
}

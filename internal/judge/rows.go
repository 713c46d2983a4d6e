package judge

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

// row checks the fields of the i-th resource against each other and against the key.
func (s *examiner) row(i int, row map[string]any, asked Request) {
	s.owner(i, row, asked)
	s.dateOfTimestamp(i, row)
	if s.op.ID == spec.ListWebhookEvents {
		s.failedAttempt(i, row)
		s.successRetried(row)
		s.nextRetry(i, row)
	}
	s.metadataElsewhere(i, row)
	s.openValues(row)
}

// owner checks that a row belongs to the key's workspace. A group member belongs to the
// admin workspace of its group. The text does not say that a sub-workspace sees only its
// own row.
func (s *examiner) owner(i int, row map[string]any, asked Request) {
	fields := s.op.Owner
	if len(fields) == 0 || uuid.Validate(asked.Owner) != nil {
		return
	}
	if len(fields) == 1 && row[fields[0]] == asked.Owner { // as in most rows
		s.see("ISOLATION-OWNER")
		return
	}
	want := uuid.MustParse(asked.Owner)
	var named []string
	ours := false
	for _, f := range fields {
		text, _ := row[f].(string)
		id, err := uuid.Parse(text) // accepts other forms too: the schemas check the form
		if err != nil {
			return // missing or not a UUID: the schemas report it
		}
		named = append(named, text)
		ours = ours || id == want || f == "admin_workspace_id" && strings.EqualFold(asked.Admin, id.String())
	}
	s.see("ISOLATION-OWNER")
	if !ours {
		s.find("ISOLATION-OWNER", s.op.RowPointer(i)+"/"+fields[0], "the key's workspace "+asked.Owner, strings.Join(named, " and "))
	}
}

func (s *examiner) dateOfTimestamp(i int, row map[string]any) {
	date, isText := row["timestamp_created_date"].(string)
	pair := spec.Pair{Requirement: "DATE-OF-TIMESTAMP", Operation: s.op.ID}
	if !isText || !spec.Has(pair) {
		return
	}
	created, ok := moment(row["timestamp_created"])
	if _, err := time.Parse(time.DateOnly, date); !ok || err != nil {
		return // not a timestamp or date: the schemas report it
	}
	s.see(pair.Requirement)
	if want := created.UTC().Format(time.DateOnly); date != want {
		s.find(pair.Requirement, s.op.RowPointer(i)+"/timestamp_created_date", want+" (the day of timestamp_created)", strconv.Quote(Clip(date)))
	}
}

// failedAttempt checks that a failed attempt has the fields that tell of its retries. The
// text gives them no meaning for an attempt that succeeded.
func (s *examiner) failedAttempt(i int, row map[string]any) {
	if success, ok := row["success"].(bool); !ok || success {
		return
	}
	for _, field := range spec.RetryFields {
		requirement := string(spec.EventFailed(field))
		s.see(requirement)
		if _, shown := row[field]; !shown { // the schemas report a null
			s.find(requirement, s.op.RowPointer(i)+"/"+field, "present (success is false)", "absent")
		}
	}
}

// successRetried observes successful attempts with will_retry true. The text gives the
// field a meaning only for an attempt that failed.
func (s *examiner) successRetried(row map[string]any) {
	if row["success"] == true && row["will_retry"] == true {
		s.Observed = append(s.Observed, Observation{spec.OpenPointSuccessRetried, "will_retry is true"})
	}
}

func (s *examiner) nextRetry(i int, row map[string]any) {
	success, ok := row["success"].(bool)
	willRetry, ok2 := row["will_retry"].(bool)
	if !ok || !ok2 || success || !willRetry {
		return
	}
	s.see("EVENT-NEXT-RETRY")
	const expected = "the time of the next attempt (will_retry is true)"
	value, present := row["timestamp_next_retry"]
	if !present || value == nil {
		s.find("EVENT-NEXT-RETRY", s.op.RowPointer(i)+"/timestamp_next_retry", expected, schemas.Member(row, "timestamp_next_retry", schemas.RenderID))
		return
	}
	next, ok := moment(value)
	created, ok2 := moment(row["timestamp_created"])
	if ok && ok2 && next.Before(created) {
		s.find("EVENT-NEXT-RETRY", s.op.RowPointer(i)+"/timestamp_next_retry", expected+", not before timestamp_created "+created.Format(time.RFC3339Nano), next.Format(time.RFC3339Nano))
	}
}

// metadataElsewhere checks that only a get shows metadata.
func (s *examiner) metadataElsewhere(i int, row map[string]any) {
	pair := spec.Pair{Requirement: "META-ELSEWHERE", Operation: s.op.ID}
	if !spec.Has(pair) {
		return
	}
	value := row["metadata"]
	if _, ok := row["id"].(string); ok || value != nil { // only a test can prove that metadata is hidden
		s.see(pair.Requirement)
	}
	if value != nil {
		s.find(pair.Requirement, s.op.RowPointer(i)+"/metadata", "absent (only a get with with_metadata=true shows it)", schemas.RenderID(value))
	}
}

// openFields are fields whose values the specification does not list.
var openFields = map[string]struct{ openPoint, field string }{
	"WorkspaceMember":      {spec.OpenPointMemberRole, "role"},
	"WorkspaceGroupMember": {spec.OpenPointGroupStatus, "status"},
	"DFYEmailAccountOrder": {spec.OpenPointForwardingMode, "forwarding_mode"},
	"CustomTagMapping":     {spec.OpenPointResourceType, "resource_type"},
}

// openValues observes lists only. Which single rows a run reads is chance.
func (s *examiner) openValues(row map[string]any) {
	if s.op.Answer != spec.Page {
		return
	}
	if open, ok := openFields[s.op.Resource]; ok && row[open.field] != nil {
		s.Observed = append(s.Observed, Observation{open.openPoint, Clip(fmt.Sprint(row[open.field]))})
	}
	if variant, ok := row["auto_variant_select"].(map[string]any); ok && s.op.Resource == "Subsequence" {
		s.Observed = append(s.Observed, Observation{spec.OpenPointTrigger, Clip(fmt.Sprint(variant["trigger"]))})
	}
}

// moment parses a timestamp. The schemas report values that are not timestamps.
func moment(value any) (time.Time, bool) {
	text, ok := value.(string)
	if !ok {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	return t, err == nil
}

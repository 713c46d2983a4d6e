package judge

import (
	"fmt"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

// Request is what the sender knows about a request.
type Request struct {
	Operation spec.Operation
	// Allowed is what the specification allows as the response. The body of an open
	// refusal is not checked.
	Allowed client.Allowed
	// Owner is the id of the key's workspace; empty if unknown. Admin is the id of its
	// admin workspace; empty if it has none.
	Owner, Admin string
	// Limit is the requested page size and ID the resource named in the path.
	// If set, the response is checked against them. The suites leave them empty
	// and check more themselves.
	Limit int
	ID    string
	// Unread means that the sender does not have the body of the response. Only the status is checked.
	Unread bool
}

// Finding is one violated requirement in one response.
type Finding struct {
	Pair                      spec.Pair
	Pointer, Expected, Actual string
}

// Result is the result of applying the rules to one exchange.
type Result struct {
	Body     any // the decoded response, numbers as json.Number; nil if there is none
	Findings []Finding
	More     map[spec.Pair]int // findings beyond these, by pair
	Seen     []Seen            // requirements that the response allowed to check
	Unread   []spec.Pair       // requirements on numbers beyond the bounds
	Observed []Observation     // observations at open points
	Rows     []map[string]any  // the resources in a 200 response
	// Err is an error of the rules themselves. It says nothing about the target.
	Err error
}

// Seen is a requirement that a response allowed to check, and how often.
type Seen struct {
	Pair  spec.Pair
	Times int
}

// Observation is what the target does at one open point.
type Observation struct{ OpenPoint, Value string }

// maxRows is how many rows of a response the rules check. A page has at most 100.
const maxRows = 2000

// Rules check single exchanges. They are safe for concurrent use.
type Rules struct {
	validator *schemas.Validator
	omits     map[string]string // name of a field that the target leaves out by design, by the requirement that it is present
}

// SeenByRules reports whether the rules judge the requirement in whatever
// exchanges come by, so that no spec has to judge it by itself.
func SeenByRules(requirement string) bool {
	r, _ := spec.FindRequirement(requirement)
	return r.Group == spec.GroupShape || r.Profile == spec.ProfileShape || strings.HasPrefix(requirement, "ERROR-") ||
		strings.HasPrefix(requirement, "EVENT-FAILED-") ||
		slices.Contains([]spec.ID{spec.MetaElsewhere, spec.IsolationOwner, spec.DateOfTimestamp, spec.EventNextRetry}, spec.ID(requirement))
}

// NewRules returns the rules. It compiles the schemas.
func NewRules() (*Rules, error) {
	v, err := schemas.New()
	if err != nil {
		return nil, err
	}
	return &Rules{validator: v}, nil
}

// Omitting returns the rules for a target that leaves out the named fields by design
// ("Lead.email"). Names that the specification does not have are ignored.
func (r *Rules) Omitting(names ...string) *Rules {
	omitting := &Rules{validator: r.validator, omits: map[string]string{}}
	for _, name := range names {
		if field, known := spec.FindField(name); known {
			omitting.omits[field.Requirement(spec.Present)] = name
		}
	}
	return omitting
}

// omit turns the absence of a field that the target leaves out by design into an
// observation.
func (r *Rules) omit(s *examiner, j *schemas.Judgement) {
	if len(r.omits) == 0 {
		return
	}
	j.Findings = slices.DeleteFunc(j.Findings, func(f schemas.Finding) bool {
		name, omitted := r.omits[f.Requirement]
		if omitted {
			s.Observed = append(s.Observed, Observation{spec.OpenPointOmitted, name})
		}
		return omitted
	})
	for id := range r.omits {
		delete(j.More, id)
	}
}

// Check checks one exchange. Its result is empty if the exchange has no complete
// response.
func (r *Rules) Check(asked Request, ex client.Exchange) Result {
	s := &examiner{op: asked.Operation}
	if ex.Err != nil || ex.Truncated {
		return s.Result
	}
	s.status(asked, ex)
	if ex.Status == http.StatusOK {
		s.see("SERVED")
	}
	switch {
	case asked.Unread:
	case ex.Status == http.StatusOK:
		r.accepted(s, asked, ex)
		if asked.Allowed.Declared() && !asked.Allowed.Status(http.StatusOK) { // that it is served is the violation
			s.dropBody()
		}
	case spec.ErrorText[ex.Status] != "" && !asked.Allowed.Open(), ex.Status == http.StatusTooManyRequests:
		r.refused(s, ex)
	}
	return s.Result
}

// status checks STATUS-200: valid requests get 200, unless what they name is gone, and no
// request gets another 2xx. It checks STATUS-ALLOWED on all other requests of which the
// sender says what is allowed.
func (s *examiner) status(asked Request, ex client.Exchange) {
	allowed := asked.Allowed
	valid := allowed.Status(http.StatusOK) && !allowed.Open()
	if ex.Status/100 == 2 || valid && !allowed.Status(ex.Status) {
		s.see(string(spec.Status200))
		if ex.Status != http.StatusOK {
			s.find(string(spec.Status200), "status", "200", DescribeStatus(ex))
			return
		}
	}
	if valid || !allowed.Declared() {
		return
	}
	s.see(string(spec.StatusAllowed))
	if !allowed.Status(ex.Status) {
		s.find(string(spec.StatusAllowed), "status", allowed.String(), DescribeStatus(ex))
	}
}

// dropBody forgets what the body of a response shows that should not be there.
func (s *examiner) dropBody() {
	s.Findings = slices.DeleteFunc(s.Findings, func(f Finding) bool { return f.Pointer != "status" })
	s.Seen = slices.DeleteFunc(s.Seen, func(seen Seen) bool {
		return !slices.Contains([]spec.ID{spec.Served, spec.Status200, spec.StatusAllowed}, spec.ID(seen.Pair.Requirement))
	})
	s.More, s.Unread = nil, nil
}

func (r *Rules) accepted(s *examiner, asked Request, ex client.Exchange) {
	s.contentType("CONTENT-TYPE", ex)
	judged := r.validator.Answer(asked.Operation, ex.Body)
	r.omit(s, &judged)
	s.take(judged)
	for _, field := range judged.Extra {
		s.Observed = append(s.Observed, Observation{spec.OpenPointExtraFields, field})
	}
	s.sameNames(judged)
	s.Rows = asked.Operation.Rows(judged.Body)
	for i, row := range s.Rows[:min(len(s.Rows), maxRows)] {
		s.row(i, row, asked)
	}
	s.fits(asked)
}

func (r *Rules) refused(s *examiner, ex client.Exchange) {
	prefix := "ERROR-" + strconv.Itoa(ex.Status)
	if !spec.Has(spec.Pair{Requirement: prefix + "-BODY", Operation: s.op.ID}) {
		return // a 404 without an id in the request: its body is unspecified
	}
	s.contentType(prefix+"-CONTENT_TYPE", ex)
	judged := r.validator.Error(ex.Status, ex.Body)
	s.take(judged)
	s.sameNames(judged)
	if body, ok := judged.Body.(map[string]any); ok {
		if message, ok := body["message"].(string); ok {
			s.Observed = append(s.Observed, Observation{spec.OpenPointMessages, fmt.Sprintf("%d: %s", ex.Status, Clip(withoutIDs(message)))})
		}
	}
}

var anyID = regexp.MustCompile(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)

// withoutIDs replaces the ids in a message: it would be another one in each run.
func withoutIDs(message string) string { return anyID.ReplaceAllString(message, "<id>") }

// sameNames observes members with the same name. The last of them is judged.
func (s *examiner) sameNames(judged schemas.Judgement) {
	for _, name := range judged.Twice {
		s.Observed = append(s.Observed, Observation{spec.OpenPointSameNames, name})
	}
}

// examiner builds a Result for one operation.
type examiner struct {
	Result
	op spec.Operation
}

// rowRules is how many requirements a row is checked for beside its schema, at most.
const rowRules = 16

func (s *examiner) see(requirement string) {
	for i := len(s.Seen) - 1; i >= 0 && i >= len(s.Seen)-rowRules; i-- { // an earlier row saw it lately
		if s.Seen[i].Pair.Requirement == requirement {
			s.Seen[i].Times++
			return
		}
	}
	s.Seen = append(s.Seen, Seen{spec.Pair{Requirement: requirement, Operation: s.op.ID}, 1})
}

func (s *examiner) find(requirement, pointer, expected, actual string) {
	s.Findings = append(s.Findings, Finding{spec.Pair{Requirement: requirement, Operation: s.op.ID}, pointer, expected, actual})
}

// take adds the result of the schemas. They know resources, not operations, so
// it drops fields that this operation must not show (META-ELSEWHERE judges those).
func (s *examiner) take(j schemas.Judgement) {
	s.Body, s.Err = j.Body, j.Err
	s.Seen = slices.Grow(s.Seen, len(j.Seen)+rowRules)
	for _, id := range j.Seen {
		if s.bound(id) {
			s.see(id)
		}
	}
	for _, id := range j.Unread {
		if s.bound(id) {
			s.Unread = append(s.Unread, spec.Pair{Requirement: id, Operation: s.op.ID})
		}
	}
	for _, f := range j.Findings {
		if s.bound(f.Requirement) {
			s.find(f.Requirement, f.Pointer, f.Expected, f.Actual)
		}
	}
	for id, n := range j.More {
		if s.bound(id) {
			if s.More == nil {
				s.More = map[spec.Pair]int{}
			}
			s.More[spec.Pair{Requirement: id, Operation: s.op.ID}] = n
		}
	}
}

func (s *examiner) bound(requirement string) bool {
	return spec.Has(spec.Pair{Requirement: requirement, Operation: s.op.ID})
}

// contentType accepts application/json and any +json type, with any parameters.
func (s *examiner) contentType(requirement string, ex client.Exchange) {
	s.see(requirement)
	header := ex.Header.Get("Content-Type")
	media, _, err := mime.ParseMediaType(header)
	if err != nil || media != "application/json" && !strings.HasSuffix(media, "+json") {
		s.find(requirement, "header:Content-Type", "application/json", fmt.Sprintf("%q", Clip(header)))
	}
}

// fits checks the response against the request.
func (s *examiner) fits(asked Request) {
	s.limit(asked.Limit)
	s.id(asked.ID)
}

// limit checks that a page has at most limit items. An empty page says nothing
// about the limit.
func (s *examiner) limit(limit int) {
	const requirement = "PAGE-LIMIT-HONOURED"
	if limit == 0 || len(s.Rows) == 0 || !s.bound(requirement) {
		return
	}
	s.see(requirement)
	if n := len(s.Rows); n > limit {
		s.find(requirement, "/items", fmt.Sprintf("at most %d items", limit), fmt.Sprintf("%d items", n))
	}
}

// id checks that the response is the requested resource. The specification
// allows either letter case in a UUID.
func (s *examiner) id(want string) {
	requirement := "STATE-GET-LIST"
	if s.op.Deletes() {
		requirement = "STATE-DELETE-ANSWER"
	}
	if want == "" || !s.bound(requirement) || len(s.Rows) != 1 {
		return
	}
	got, isText := s.Rows[0]["id"].(string)
	if !isText {
		return // the schemas report it
	}
	s.see(requirement)
	if !strings.EqualFold(want, got) {
		s.find(requirement, "/id", want, schemas.RenderID(got))
	}
}

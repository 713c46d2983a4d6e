package judge

import (
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

// Asked is what whoever sent a request knows of it and the rules need.
type Asked struct {
	Operation spec.Operation
	// Valid says that the request is valid and its key may make it, so that the
	// only right answer is 200.
	Valid bool
	// Owner is the id of the key's workspace; empty if it is not known.
	Owner string
	// Open says that a refusal may look like anything: the specification does
	// not show the bodies for what the request is refused for.
	Open bool
	// Limit is the page size that was asked for, and ID the resource that the path
	// names. Where they are given, the answer is held against them; the suites do
	// that by themselves, with more that they know.
	Limit int
	ID    string
}

// Finding is one violated requirement in one answer.
type Finding struct {
	Pair                      spec.Pair
	Pointer, Expected, Actual string
}

// Sighting is what the rules see in one exchange.
type Sighting struct {
	Body     any // the decoded answer, numbers as json.Number; nil if there is none
	Findings []Finding
	Seen     []spec.Pair      // requirements that the answer put to the test
	Observed []Silent         // what it shows of the silences
	Rows     []map[string]any // the resources in a 200 answer
	// Err is the rules' own trouble with the answer: it says nothing of the target.
	Err error
}

// Silent is one observation.
type Silent struct{ Silence, Value string }

// Rules judge single exchanges. They are safe for concurrent use.
type Rules struct {
	validator *schemas.Validator
}

// NewRules compiles the schemas.
func NewRules() (*Rules, error) {
	v, err := schemas.New()
	if err != nil {
		return nil, err
	}
	return &Rules{validator: v}, nil
}

// Look judges one exchange. An exchange without an answer shows nothing; what
// becomes of that is for the caller to say.
func (r *Rules) Look(asked Asked, ex client.Exchange) Sighting {
	s := &sighter{op: asked.Operation}
	if ex.Err != nil || ex.Truncated {
		return s.Sighting
	}
	s.status(asked, ex)
	switch {
	case ex.Status == http.StatusOK:
		r.served(s, asked, ex)
	case spec.ErrorText[ex.Status] != "" && !asked.Open:
		r.refused(s, ex)
	}
	return s.Sighting
}

// status judges STATUS-200: 200 for what is valid, and no other 2xx for anything.
func (s *sighter) status(asked Asked, ex client.Exchange) {
	success := ex.Status/100 == 2
	if asked.Valid || success {
		s.see("STATUS-200")
	}
	if ex.Status != http.StatusOK && (asked.Valid || success) {
		s.find("STATUS-200", "status", "200", DescribeStatus(ex))
	}
}

func (r *Rules) served(s *sighter, asked Asked, ex client.Exchange) {
	s.contentType("CONTENT-TYPE", ex)
	judged := r.validator.Answer(asked.Operation, ex.Body)
	s.take(judged)
	for _, field := range judged.Extra {
		s.Observed = append(s.Observed, Silent{spec.SilenceExtraFields, field})
	}
	s.Rows = asked.Operation.Rows(judged.Body)
	for i, row := range s.Rows {
		s.row(pointerTo(asked.Operation, i), row, asked.Owner)
	}
	s.fits(asked)
}

func (r *Rules) refused(s *sighter, ex client.Exchange) {
	prefix := "ERROR-" + strconv.Itoa(ex.Status)
	if !spec.Has(spec.Pair{Requirement: prefix + "-BODY", Operation: s.op.ID}) {
		return // a 404 where no id was asked for: nothing says what it looks like
	}
	s.contentType(prefix+"-CONTENT_TYPE", ex)
	judged := r.validator.Error(ex.Status, ex.Body)
	s.take(judged)
	if body, ok := judged.Body.(map[string]any); ok {
		if message, ok := body["message"].(string); ok {
			s.Observed = append(s.Observed, Silent{spec.SilenceMessages, fmt.Sprintf("%d: %s", ex.Status, Clip(message))})
		}
	}
}

// sighter collects a Sighting on one operation.
type sighter struct {
	Sighting
	op spec.Operation
}

func (s *sighter) see(requirement string) {
	s.Seen = append(s.Seen, spec.Pair{Requirement: requirement, Operation: s.op.ID})
}

func (s *sighter) find(requirement, pointer, expected, actual string) {
	s.Findings = append(s.Findings, Finding{spec.Pair{Requirement: requirement, Operation: s.op.ID}, pointer, expected, actual})
}

// take enters what the schemas say. They know resources, not operations: a field
// that this operation should not show at all (META-ELSEWHERE) has no shape here.
func (s *sighter) take(j schemas.Judgement) {
	s.Body, s.Err = j.Body, j.Err
	for _, id := range j.Seen {
		if s.bound(id) {
			s.see(id)
		}
	}
	for _, f := range j.Findings {
		if s.bound(f.Requirement) {
			s.find(f.Requirement, f.Pointer, f.Expected, f.Actual)
		}
	}
}

func (s *sighter) bound(requirement string) bool {
	return spec.Has(spec.Pair{Requirement: requirement, Operation: s.op.ID})
}

// contentType accepts application/json and every +json type, with any parameters.
func (s *sighter) contentType(requirement string, ex client.Exchange) {
	s.see(requirement)
	header := ex.Header.Get("Content-Type")
	media, _, err := mime.ParseMediaType(header)
	if err != nil || media != "application/json" && !strings.HasSuffix(media, "+json") {
		s.find(requirement, "header:Content-Type", "application/json", fmt.Sprintf("%q", Clip(header)))
	}
}

// DescribeStatus names the status and the beginning of the body, which often
// says why.
func DescribeStatus(ex client.Exchange) string {
	body := strings.Join(strings.Fields(strings.ToValidUTF8(string(ex.Body[:min(len(ex.Body), 400)]), "�")), " ")
	if body == "" {
		return strconv.Itoa(ex.Status)
	}
	return fmt.Sprintf("%d %s", ex.Status, Clip(body))
}

// Clip bounds what is shown of the target's words.
func Clip(s string) string {
	const most = 160
	runes := []rune(strings.ToValidUTF8(s, "�"))
	if len(runes) <= most {
		return string(runes)
	}
	return string(runes[:most]) + "…"
}

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

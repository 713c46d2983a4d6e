package faults

import (
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

// refusedWith is a target that refuses every request with a status.
func refusedWith(status int) Handler {
	return func(Request) (Response, error) { return refusal(status), nil }
}

// unauthorizedRequests returns requests that lack authorization in every way,
// by the name in the defects' ids.
func unauthorizedRequests(a *Target, op spec.Operation) map[string]Request {
	revoked := a.Profile.RevokedKeys()[0]
	requests := map[string]Request{}
	for way, header := range map[string]string{
		"without-a-header": "", "for-another-scheme": "Basic " + a.key(dataset.Main), "for-an-empty-token": "Bearer ",
		"for-an-unknown-key": "Bearer unknown", "for-a-revoked-key": "Bearer " + revoked.Token,
	} {
		r := Request{Operation: op.ID, Method: op.Method, Path: op.Path, Header: http.Header{}}
		if header != "" {
			r.Header.Set("Authorization", header)
		}
		requests[way] = r
	}
	return requests
}

// brokenParts returns the requirements on errors that an answer violates.
func brokenParts(t *testing.T, v *schemas.Validator, status int, answer Response) []string {
	t.Helper()
	if answer.Status != status {
		t.Fatalf("the answer is a %d, not a %d", answer.Status, status)
	}
	var broken []string
	if media, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type")); err != nil || media != "application/json" {
		broken = append(broken, errorPart(status, "CONTENT_TYPE"))
	}
	for _, f := range v.Error(status, answer.Body).Findings {
		broken = append(broken, f.Requirement)
	}
	return broken
}

func TestErrorDefectsBreakOnePart(t *testing.T) {
	v, err := schemas.New()
	if err != nil {
		t.Fatal(err)
	}
	a := &Target{Profile: profile.Embedded()}
	requests := map[string]map[string]Request{}
	for _, op := range spec.Operations() {
		requests[op.ID] = unauthorizedRequests(a, op)
	}
	anyWay := errorBodyDefects()
	for i, d := range slices.Concat(anyWay, oneWay401Defects()) {
		status, err := strconv.Atoi(strings.Split(d.Breaks.Requirement, "-")[1])
		if err != nil {
			t.Fatal(err)
		}
		oneWay := i >= len(anyWay)
		handler := d.Apply(a)(refusedWith(status))
		for way, r := range requests[d.Breaks.Operation] {
			answer, err := handler(r)
			if err != nil {
				t.Fatal(err)
			}
			broken := brokenParts(t, v, status, answer)
			switch spared := oneWay && !strings.HasSuffix(d.ID, way); {
			case spared && len(broken) > 0:
				t.Errorf("%s: a request %s shows %v broken", d.ID, way, broken)
			case !spared && !slices.Equal(broken, []string{d.Breaks.Requirement}):
				t.Errorf("%s: a request %s shows %v broken, not %s", d.ID, way, broken, d.Breaks.Requirement)
			}
		}
	}
}

// withoutLost is a target without anything that a path or body calls "lost".
func withoutLost(lost string) Handler {
	return func(r Request) (Response, error) {
		switch {
		case r.ID == lost || strings.Contains(string(r.Body), lost):
			return refusal(http.StatusNotFound), nil
		case r.Operation == spec.ListSubsequences:
			return jsonAnswer(http.StatusOK, map[string]any{"items": []any{sampleOf("Subsequence")}}), nil
		default:
			return jsonAnswer(http.StatusOK, sampleOf(spec.MustOperation(r.Operation).Resource)), nil
		}
	}
}

func TestNotFoundDefectsFindWhatDoesNotExist(t *testing.T) {
	const lost = "00000000-0000-7000-8000-000000000000"
	a := &Target{Profile: profile.Embedded()}
	main := a.Profile.Workspaces[dataset.Main]
	move := func(lead, subsequence string) []byte {
		return encode(map[string]any{"id": lead, "subsequence_id": subsequence})
	}
	for _, d := range notFoundDefects() {
		op := spec.MustOperation(d.Breaks.Operation)
		ask := func(id string, body []byte) int {
			r := Request{Operation: op.ID, ID: id, Method: op.Method, Header: http.Header{}, Path: strings.Replace(op.Path, "{id}", id, 1), Body: body}
			answer, err := d.Apply(a)(withoutLost(lost))(r.withToken(a.key(dataset.Main)))
			if err != nil {
				t.Fatal(err)
			}
			return answer.Status
		}
		var wrong, right int
		other := http.StatusNotFound
		switch {
		case op.ID != spec.MoveLead:
			wrong, right = ask(lost, nil), ask(main.PlacementTests[0], nil)
		case d.Breaks.Requirement == "NOT-FOUND-LEAD":
			wrong, other = ask("", move(lost, main.Subsequences[0])), ask("", move(main.Leads[0], lost))
			right = ask("", move(main.Leads[0], main.Subsequences[0]))
		default:
			wrong, other = ask("", move(main.Leads[0], lost)), ask("", move(lost, main.Subsequences[0]))
			right = ask("", move(main.Leads[0], main.Subsequences[0]))
		}
		if wrong == http.StatusNotFound || other != http.StatusNotFound || right != http.StatusOK {
			t.Errorf("%s: what it is to hide is answered %d, what else does not exist %d, what exists %d", d.ID, wrong, other, right)
		}
	}
}

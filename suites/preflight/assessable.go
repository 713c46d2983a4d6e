package preflight

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/standin"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/runner"
)

// Coverage is how much of one group of requirements a run with the profile can
// assess. Missing data on the target may reduce it further.
type Coverage struct {
	Group      spec.Group
	Pairs      int // requirements × operations
	Assessable int
	Missing    []Missing // most frequent first
}

// Missing is an input that the profile lacks.
type Missing struct {
	Input string
	Pairs int // not assessed without it
}

// standinAddress is the address of the stand-in, which is a transport, not a server.
const standinAddress = "http://standin.invalid"

// Assessable rehearses a run with the profile and the selection on a stand-in, without a network. The
// specs report the inputs that they lack. Inputs that the reference server's profile
// lacks too are ignored: the stand-in causes those. Assessable must not run at the
// same time as another run in the process.
func Assessable(ctx context.Context, profile *profile.Profile, selection runner.Selection) ([]Coverage, error) {
	return assessable(ctx, profile, selection, reach{})
}

// reach is what the keys of a profile do not reach on its target. The zero reach
// excludes nothing.
type reach struct {
	useless map[string]bool    // names of keys that no check can use
	noMint  bool               // the mint command makes no key that the target accepts
	barred  map[string]barrier // operations that no check can assess
}

// barrier is why no check can assess an operation.
type barrier struct {
	status int    // of every response to a request with a key
	input  string // what the checks lack
}

// within returns a copy of the profile without the keys that are not usable.
func (r reach) within(given *profile.Profile) *profile.Profile {
	p := *given
	p.Keys = slices.DeleteFunc(slices.Clone(given.Keys), func(k profile.Key) bool { return r.useless[k.Name] })
	if r.noMint {
		p = *p.WithoutMint()
	}
	return &p
}

// assessable is Assessable for keys with the given reach.
func assessable(ctx context.Context, profile *profile.Profile, selection runner.Selection, reach reach) ([]Coverage, error) {
	selection = selection.For(profile)
	pairs, err := selection.Pairs()
	if err != nil {
		return nil, err
	}
	with, err := rehearse(ctx, reach.within(profile), selection, reach.barred)
	if err != nil {
		return nil, err
	}
	for _, p := range pairs {
		if why, barred := reach.barred[p.Operation]; barred {
			with[p] = []string{why.input}
		}
	}
	best, err := atBest()
	if err != nil {
		return nil, err
	}
	var all []Coverage
	for _, g := range spec.Groups() {
		if c := cover(g, pairs, with, best); c.Pairs > 0 {
			all = append(all, c)
		}
	}
	return all, ctx.Err()
}

// atBest is the rehearsal with a complete profile. Its result never changes.
var atBest = sync.OnceValues(func() (map[spec.Pair][]string, error) {
	return rehearse(context.Background(), profile.Embedded(), runner.Selection{}, nil)
})

// rehearse returns the inputs that each pair lacks on the stand-in, which refuses the
// barred operations.
func rehearse(ctx context.Context, given *profile.Profile, selection runner.Selection, barred map[string]barrier) (map[spec.Pair][]string, error) {
	transport, err := standin.Transport()
	if err != nil {
		return nil, err
	}
	p := *given
	p.Pace = profile.DefaultPace()
	p.Container, p.TLS, p.Budget, p.ExpectedFailures = nil, nil, 0, nil
	p.Stateless = true                // the stand-in's lists do not show the ids that the profile names
	p.VisibleWithin = time.Nanosecond // what it does not show at once it never shows
	if p.RateLimit != nil {
		limit := *p.RateLimit
		limit.Requests, limit.Per, limit.Budget = 0, 0, 1
		p.RateLimit = &limit
	}
	if p.Mint != nil { // no key is made for a rehearsal
		p = *p.WithMint(func(role, scope string) (string, error) { return rehearsalToken + role + "-" + scope, nil })
	}
	t, err := target.URL(&p, standinAddress)
	if err != nil {
		return nil, err
	}
	results, err := runner.Run(ctx, runner.Config{Target: t, Selection: selection, Seed: 1, StandIn: !given.Stateless, OutcomesOnly: true, Transport: refusals(transport, p.Keys, barred)})
	if err != nil {
		return nil, fmt.Errorf("rehearsal: %w", err)
	}
	lacking := map[spec.Pair][]string{}
	for _, c := range results.Checks {
		if c.Outcome == reports.NotAssessed {
			lacking[spec.Pair{Requirement: c.Requirement, Operation: c.Operation}] = c.Missing
		}
	}
	return lacking, nil
}

// cover counts the pairs of one group.
func cover(g spec.Group, pairs []spec.Pair, with, best map[spec.Pair][]string) Coverage {
	c := Coverage{Group: g}
	counts := map[string]int{}
	for _, p := range pairs {
		if r, _ := spec.FindRequirement(p.Requirement); r.Group != g {
			continue
		}
		c.Pairs++
		lacks := slices.DeleteFunc(slices.Clone(with[p]), func(input string) bool { return slices.Contains(best[p], input) })
		if len(lacks) == 0 {
			c.Assessable++
			continue
		}
		counts[lacks[0]]++
	}
	for input, n := range counts {
		c.Missing = append(c.Missing, Missing{input, n})
	}
	slices.SortFunc(c.Missing, func(a, b Missing) int {
		if a.Pairs != b.Pairs {
			return b.Pairs - a.Pairs
		}
		return slices.Compare([]string{a.Input}, []string{b.Input})
	})
	return c
}

// rehearsalToken begins the token of a key that a rehearsal mints.
const rehearsalToken = "rehearsal-"

// unusedIDs begins the ids that runs make up. No resource has such an id.
const unusedIDs = "00800000-00"

// refusing adds the refusals of a real server to the stand-in, which serves every
// request. A rehearsal then sees the same kinds of responses as a run.
type refusing struct {
	next http.RoundTripper
	keys map[string]string // state by token

	barred map[string]barrier // by operation
}

func refusals(next http.RoundTripper, keys []profile.Key, barred map[string]barrier) refusing {
	states := map[string]string{}
	for _, k := range keys {
		states[k.Token] = k.State
	}
	return refusing{next, states, barred}
}

func (r refusing) RoundTrip(request *http.Request) (*http.Response, error) {
	status, err := r.refusal(request)
	if err != nil {
		return nil, err
	}
	if status == 0 {
		return r.next.RoundTrip(request)
	}
	body := fmt.Sprintf(`{"statusCode":%d,"error":%q,"message":"refused in a rehearsal"}`, status, spec.ErrorText[status])
	return &http.Response{
		StatusCode: status, Status: fmt.Sprintf("%d %s", status, http.StatusText(status)), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}}, Body: io.NopCloser(strings.NewReader(body)),
		ContentLength: int64(len(body)), Request: request,
	}, nil
}

// refusal returns the status with which a real server would refuse the request; 0
// if it would not. It reads the request's body and restores it.
func (r refusing) refusal(request *http.Request) (int, error) {
	token, _ := strings.CutPrefix(request.Header.Get("Authorization"), "Bearer ")
	state, known := r.keys[token]
	switch {
	case strings.HasPrefix(token, rehearsalToken):
	case !known || token == "" || state == profile.KeyRevoked:
		return http.StatusUnauthorized, nil
	case state == profile.KeyUnpaid:
		return http.StatusPaymentRequired, nil
	}
	if op, _, known := spec.MatchOperation(request.Method, request.URL.Path); known && r.barred[op.ID].status != 0 {
		return r.barred[op.ID].status, nil
	}
	named := request.URL.Path
	if request.Body != nil {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return 0, err
		}
		request.Body = io.NopCloser(bytes.NewReader(body))
		if string(body) == "{}" || len(body) > 0 && !json.Valid(body) { // each body of the specification has a required member
			return http.StatusBadRequest, nil
		}
		named += string(body)
	}
	if strings.Contains(named, unusedIDs) || malformedID(request.Method, request.URL.Path) {
		return http.StatusNotFound, nil
	}
	return 0, nil
}

// malformedID reports whether the path of a request holds an id that is not a UUID.
func malformedID(method, path string) bool {
	op, id, ok := spec.MatchOperation(method, path)
	return ok && op.HasPathID() && uuid.Validate(id) != nil
}

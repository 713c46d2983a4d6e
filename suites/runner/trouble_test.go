package runner

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/client"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/api"
	"outreach.example/conformance/suites/tree"
)

// from answers the first requests from the target, and the others with the function.
func from(nth int64, others roundTripper) roundTripper {
	var came atomic.Int64
	return func(r *http.Request) (*http.Response, error) {
		if came.Add(1) >= nth {
			return others(r)
		}
		return http.DefaultTransport.RoundTrip(r)
	}
}

func unreachable(*http.Request) (*http.Response, error) {
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
}

func silent(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// throttling answers with 429 at once.
func throttling(retryAfter string) roundTripper {
	const body = `{"statusCode":429,"error":"Too Many Requests","message":"Rate limit exceeded"}`
	return func(r *http.Request) (*http.Response, error) {
		answer, err := always(http.StatusTooManyRequests, "application/json", body)(r)
		answer.Header.Set("Retry-After", retryAfter)
		return answer, err
	}
}

// with changes each response to the operation.
func with(operation string, change func(*http.Response)) roundTripper {
	return func(r *http.Request) (*http.Response, error) {
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err == nil && asks(r, operation) {
			change(answer)
		}
		return answer, err
	}
}

type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// Whatever befalls the target, the way to it or the harness is nobody's violation and nobody's
// pass. The first reason says what it was.
func TestTroubleIsNoVerdict(t *testing.T) {
	quick := func(p *profile.Profile) { p.Pace.Timeout = 250 * time.Millisecond }
	phones := Selection{Profiles: []spec.Profile{spec.ProfileShape}, Operations: []string{spec.ListPhoneNumbers, spec.ListLeadLabels}}
	for name, tc := range map[string]struct {
		way       roundTripper
		change    func(*profile.Profile)
		selection Selection
		reason    string // of the first reason
		trouble   string // "" for whatever
	}{
		"unreachable from the beginning": {way: unreachable, reason: "it is unreachable", trouble: "connection refused"},
		"unreachable in the middle":      {way: from(400, unreachable), reason: "it is unreachable", trouble: "connection refused"},
		"silent in the middle": {way: from(200, silent), change: quick,
			reason: "^the target stopped responding: 5 requests in a row had no response within 250ms each.*pace.timeout", trouble: "stopped responding"},
		"429 from the beginning": {way: throttling("1"), change: func(p *profile.Profile) { p.Pace.Patience = time.Second },
			reason: `^the target answered nothing but 429 for [0-9.]+s \([0-9]+ responses\), so the run ended; .*pace\.patience`},
		"429 for an hour": {way: throttling("3600"), reason: `^the target answered every request with 429 \([0-9,]+\); wait until its limit resets`},
		"a crash of the harness": {selection: phones, reason: "check", trouble: "^panic: no answer",
			way: func(r *http.Request) (*http.Response, error) {
				if asks(r, spec.ListPhoneNumbers) {
					panic("no answer")
				}
				return http.DefaultTransport.RoundTrip(r)
			}},
		"an unknown encoding": {selection: phones, reason: "check", trouble: `Content-Encoding "br" was not offered`,
			way: with(spec.ListPhoneNumbers, func(answer *http.Response) { answer.Header.Set("Content-Encoding", "br") })},
		"a body without an end": {selection: Selection{Requirements: []string{"STATUS-200"}, Operations: phones.Operations},
			reason: "check", trouble: "the body is larger than 8388608 bytes",
			way: with(spec.ListPhoneNumbers, func(answer *http.Response) {
				_ = answer.Body.Close()
				answer.Body, answer.ContentLength = io.NopCloser(io.LimitReader(spaces{}, client.DefaultMaxBody+1)), -1
			})},
		"a mint command that takes too long": {selection: Selection{Requirements: []string{"SCOPE-EXACT"}, Operations: []string{spec.ListLeadLabels}},
			reason: "^the mint command failed for key minted-main-.*it took longer than 20ms",
			change: func(p *profile.Profile) {
				p.Keys = slices.DeleteFunc(p.Keys, func(k profile.Key) bool { return slices.Contains(k.Scopes, "lead-labels:read") })
				p.Mint = &profile.Mint{Command: []string{"sh", "-c", "exec sleep 600", "mint"}, Timeout: 20 * time.Millisecond}
				keys := slices.Clone(p.Keys)
				_ = p.ResolveTokens(".", os.Getenv) // which starts to mint, and finds no variables
				p.Keys = keys
			}},
	} {
		t.Run(name, func(t *testing.T) {
			g, server := NewWithT(t), embedded(t)
			if tc.change != nil {
				server = described(server, tc.change)
			}
			config := Config{Target: server, Selection: tc.selection, JournalDir: t.TempDir()}
			if tc.way != nil {
				config.Transport = tc.way
			}
			results := judged(t, t.Context(), config)
			g.Expect(of(results, reports.Fail)).To(BeEmpty())
			g.Expect(results.Verdict).To(Equal(reports.Inconclusive))
			g.Expect(results.ExitCode()).To(Equal(3))
			g.Expect(results.Run.Interrupted).To(BeFalse(), "nobody interrupted it")
			g.Expect(results.Reasons[0]).To(MatchRegexp(tc.reason))
			if tc.trouble != "" {
				g.Expect(results.Troubles).To(ContainElement(And(HaveField("What", MatchRegexp(tc.trouble)), HaveField("Where", Not(BeEmpty())))))
			}
			for _, c := range results.Checks {
				if len(tc.selection.Operations) == 2 && c.Operation == spec.ListLeadLabels {
					g.Expect(c.Outcome).To(Equal(reports.Pass), "%s is judged all the same", c.Requirement)
				} else if len(tc.selection.Operations) == 2 {
					g.Expect(c.Outcome).NotTo(Equal(reports.Pass), c.Requirement)
				}
			}
		})
	}
}

// A spec ends when the time of the profile is over, and the results name that setting.
func TestProfileBoundsTheTimeOfASpec(t *testing.T) {
	g := NewWithT(t)
	var began atomic.Bool // earlier requests belong to no spec
	results := judged(t, t.Context(), Config{
		Target:    described(embedded(t), func(p *profile.Profile) { p.Pace.SpecTimeout = 50 * time.Millisecond }),
		Selection: Selection{Operations: []string{spec.ListPhoneNumbers}, Requirements: []string{string(spec.AuthHeaderMissing)}},
		Progress:  tree.Progress{Begin: func(api.Spec, int) { began.Store(true) }},
		Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			if began.Load() {
				return silent(r)
			}
			return http.DefaultTransport.RoundTrip(r)
		})})
	g.Expect(results.Verdict).To(Equal(reports.Inconclusive))
	g.Expect(results.Troubles).To(ContainElement(HaveField("What", ContainSubstring("took longer than 50ms (see pace.spec_timeout)"))))
}

// What had no response is not part of the fingerprint.
func TestNoResponseIsNoObservation(t *testing.T) {
	g := NewWithT(t)
	results := judged(t, t.Context(), Config{JournalDir: t.TempDir(),
		Target: described(embedded(t), func(p *profile.Profile) { p.Operations = []string{"inbox-placement-tests.*"} }),
		Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.URL.Path == spec.OptionsPath {
				return unreachable(r)
			}
			return http.DefaultTransport.RoundTrip(r)
		})})
	g.Expect(results.Observations).To(ContainElement(HaveField("OpenPoint", spec.OpenPointOtherMethods)))
	g.Expect(results.Observations).NotTo(ContainElement(HaveField("OpenPoint", spec.OpenPointESPOptions)))
}

// Anything that comes back interrupts a series of requests without a response.
func TestWatchdog(t *testing.T) {
	closed, malformed := client.Exchange{Err: client.ErrProtocol}, client.Exchange{Err: client.ErrProtocol, Malformed: true}
	timeout, refused := client.Exchange{Err: client.ErrTimeout}, client.Exchange{Err: client.ErrRefused}
	answered := client.Exchange{Status: http.StatusOK}
	for _, tc := range []struct {
		lost, other client.Exchange
		limit       int
		says        string
	}{
		{timeout, answered, maxUnanswered, "within 30s each"},
		{timeout, refused, maxUnanswered, "within 30s each"},
		{closed, answered, maxClosed, "100 requests in a row had no response: it closed each connection"},
		{closed, malformed, maxClosed, "it closed each connection"},
	} {
		g := NewWithT(t)
		ctx, giveUp := context.WithCancelCause(t.Context())
		dog := newWatchdog(30*time.Second, giveUp)
		hear := func(ex client.Exchange, times int) {
			for range times {
				dog.observe(ex)
			}
		}
		hear(tc.lost, tc.limit-1)
		hear(tc.other, 1)
		hear(tc.lost, tc.limit-1)
		hear(client.Exchange{Err: client.ErrCanceled}, 1) // says nothing either way
		g.Expect(ended(ctx)).To(BeEmpty())
		hear(tc.lost, 1)
		g.Expect(context.Cause(ctx)).To(MatchError(client.ErrStopped))
		g.Expect(ended(ctx)).To(ContainSubstring(tc.says))
	}
	dog := newWatchdog(time.Second, func(error) {})
	dog.observe(client.Exchange{Err: client.ErrProtocol, StaleConnection: true})
	NewWithT(t).Expect(dog.why(t.Context(), nil, client.Traffic{})).To(HavePrefix("1 request got no response: the target closed a keep-alive connection"))
}

// What the profile says of the keys or the address may be wrong. That is named before what
// follows from it. An operation that refuses a right key is the target's fault.
func TestKeysAndAddress(t *testing.T) {
	wrong := func(names ...string) func(*target.Target) {
		return func(on *target.Target) {
			for i := range on.Profile.Keys {
				if k := &on.Profile.Keys[i]; len(names) == 0 || slices.Contains(names, k.Name) {
					k.Token = "never-issued-" + k.Workspace
				}
			}
		}
	}
	scopeless, _ := profile.Embedded().ScopedKey(dataset.Main, "")
	for name, tc := range map[string]struct {
		spoil     func(*target.Target)
		way       http.RoundTripper
		selection Selection
		verdict   reports.Verdict
		reason    string
		missing   string // of each check; "" for whatever
	}{
		"no key is taken": {spoil: wrong(), verdict: reports.Inconclusive, reason: `the key "main".*\(401\).*target check`, missing: "a key that the target accepts"},
		"the main key is refused": {spoil: wrong(dataset.Main), selection: Selection{Operations: []string{"lead-*"}, Requirements: []string{"STATUS-200"}},
			verdict: reports.Failed, reason: "probably the cause of the other failures"},
		"an operation refuses a right key": {spoil: wrong("none"), selection: Selection{Operations: []string{spec.ListLeadLists}, Requirements: []string{"STATUS-200"}},
			way: with(spec.ListLeadLists, func(answer *http.Response) {
				answer.StatusCode, answer.ContentLength = http.StatusUnauthorized, -1
				answer.Body = io.NopCloser(strings.NewReader(`{"statusCode":401,"error":"Unauthorized","message":"no"}`))
				answer.Header.Del("Content-Length")
			}), verdict: reports.Failed, reason: "checks? failed"},
		"another base path": {spoil: func(on *target.Target) { on.BaseURL += "/base" }, selection: Selection{Requirements: []string{"SERVED"}},
			verdict: reports.Failed, reason: `^the target serves no list \(404\): is http.*/base the address in front of /api/v2\?`},
		"a key without scopes that was never issued": {spoil: wrong(scopeless.Name), selection: Selection{Requirements: []string{"SCOPE-NONE", "SCOPE-NO-EFFECT", "OPTIONS-SCOPE"}},
			verdict: reports.Inconclusive, reason: ".", missing: "a key that the target distinguishes from a key that was never issued"},
		"a limited key that was never issued": {spoil: wrong(dataset.Limited), selection: Selection{Requirements: []string{"RATE-429"}, Operations: []string{"*.list"}},
			verdict: reports.Inconclusive, reason: ".", missing: "."},
	} {
		t.Run(name, func(t *testing.T) {
			g, server := NewWithT(t), described(embedded(t), func(*profile.Profile) {})
			tc.spoil(server)
			results := judged(t, t.Context(), Config{Target: server, Transport: tc.way, Selection: tc.selection})
			g.Expect(results.Verdict).To(Equal(tc.verdict))
			g.Expect(results.Reasons[0]).To(MatchRegexp(tc.reason))
			for _, c := range results.Checks {
				if tc.missing != "" {
					g.Expect(c.Outcome).To(Equal(reports.NotAssessed), "%s on %s", c.Requirement, c.Operation)
					g.Expect(strings.Join(c.Missing, "; ")).To(MatchRegexp(tc.missing), "%s on %s", c.Requirement, c.Operation)
				}
			}
		})
	}
}

package runner

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/loadtest/infer"
	"outreach.example/conformance/loadtest/prepare"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/selftest/faults"
)

// saysAlways sets the same Retry-After in every 429.
func saysAlways(seconds string) middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(waitOf{w, seconds}, r) })
	}
}

type waitOf struct {
	http.ResponseWriter
	seconds string
}

func (w waitOf) WriteHeader(status int) {
	if status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", w.seconds)
	}
	w.ResponseWriter.WriteHeader(status)
}

// A Retry-After that the probes disproved is not obeyed afterwards.
func TestADisprovedRetryAfterIsNotObeyed(t *testing.T) {
	for _, says := range []string{"0", "60", "86400"} {
		t.Run(says, inFakeTime(func(t *testing.T) {
			o := Run(t.Context(), limitedBy(t, "fixed-window:10/200ms", saysAlways(says)),
				builtinScenario(t, "rate-limit", func(s *scenario.Scenario) { s.Budget, s.Duration = 600, 4*time.Second }))
			if o.Verdict != reports.Passed || len(o.Notes) > 0 {
				t.Errorf("%s: %q, notes %q, %+v", o.Verdict, o.Reasons, o.Notes, o.Violations)
			}
			for _, requirement := range []string{"RATE-429", "RATE-RESUMES"} {
				if !assessedOf(o, requirement) {
					t.Errorf("%s was not put to the test", requirement)
				}
			}
		}))
	}
}

// A Retry-After that cannot be parsed counts as present. Its value is redacted before
// it is truncated.
func TestAnUnreadableRetryAfterIsShown(t *testing.T) {
	inFakeTime(func(t *testing.T) {
		token := tokenOf(embedded(), dataset.Limited)
		said := strings.Repeat("x", 50) + token
		o := Run(t.Context(), limitedBy(t, quickLimit, saysAlways(said)), probing(t))
		r := o.Limiter.RetryAfter
		if r.Present.Value != "always" || r.With == 0 || r.With != r.Refused || r.Unreadable != r.With {
			t.Errorf("%+v", r)
		}
		if !strings.Contains(r.Example, "$OUTREACH") || strings.Contains(r.Example, token[:8]) {
			t.Errorf("the example is %s", r.Example)
		}
	})(t)
}

// A server with a long, honest Retry-After does not fail. A note says that the run
// did not wait.
func TestAnHonestHourIsNotWaitedFor(t *testing.T) {
	inFakeTime(func(t *testing.T) {
		o := Run(t.Context(), limitedBy(t, "sliding-log:10/1h"), probing(t))
		if o.Verdict != reports.Passed || assessedOf(o, "RATE-RESUMES") {
			t.Errorf("%s: %q, %+v", o.Verdict, o.Reasons, o.Violations)
		}
		for _, what := range []string{"refused writes were not checked", "recovery was not checked: Retry-After says 3"} {
			if !slices.ContainsFunc(o.Notes, func(n string) bool {
				return strings.Contains(n, what) && strings.Contains(n, "use a longer --duration")
			}) {
				t.Errorf("notes %q, want one with %q", o.Notes, what)
			}
		}
		if got := (load.Results{Scenarios: []load.Scenario{o.Scenario}}).Coverage(); got != "1 of 1 scenarios, 2 checks left out (refused writes, recovery)" {
			t.Errorf("the last line says %q", got)
		}
	})(t)
}

// The curl command of a violation beyond the limit exceeds the limit first.
func TestWhatIsWrongBeyondTheLimitIsSeenAgain(t *testing.T) {
	inFakeTime(func(t *testing.T) {
		o := Run(t.Context(), limitedBy(t, quickLimit, defectOf("lead-lists.list/answers-429-with-an-empty-message")(t)), probing(t))
		if len(o.Violations) == 0 {
			t.Fatalf("%s: nothing was found: %q", o.Verdict, o.Reasons)
		}
		for _, v := range o.Violations {
			for _, e := range v.Examples {
				if !strings.Contains(e.Curl, "; for n in ") || !strings.Contains(e.Curl, `lead-lists?limit=1#[1-50]"`) {
					t.Errorf("%s: %s", v.Requirement, e.Curl)
				}
			}
		}
	})(t)
}

// The curl command of a 5xx in place of a 429 exceeds the limit too. One below it is
// reproduced by its request alone.
func TestAServerErrorBeyondTheLimitIsSeenAgain(t *testing.T) {
	for name, tc := range map[string]struct {
		lay    middleware
		beyond bool
	}{
		"beyond the limit": {with(func(next faults.Handler) faults.Handler {
			return func(r faults.Request) (faults.Response, error) {
				answer, err := next(r)
				if answer.Status == http.StatusTooManyRequests {
					answer.Status = http.StatusServiceUnavailable
				}
				return answer, err
			}
		}), true},
		"always": {with(func(next faults.Handler) faults.Handler {
			return func(r faults.Request) (faults.Response, error) {
				answer, err := next(r)
				if r.Operation == spec.ListLeadLists {
					answer.Status = http.StatusServiceUnavailable
				}
				return answer, err
			}
		}), false},
	} {
		t.Run(name, inFakeTime(func(t *testing.T) {
			o := Run(t.Context(), limitedBy(t, quickLimit, tc.lay), probing(t))
			pair := spec.Pair{Requirement: "STATUS-200", Operation: spec.ListLeadLists}
			if !violated(o, pair) {
				t.Fatalf("%s: %q, %+v", o.Verdict, o.Reasons, o.Violations)
			}
			if strings.Count(o.Limiter.Summary, "inconclusive") != 1 {
				t.Errorf("summary %q", o.Limiter.Summary)
			}
			for _, v := range o.Violations {
				for _, e := range v.Examples {
					if beyond := strings.Contains(e.Curl, "; for n in ") && strings.Contains(e.Curl, "]* 503'"); v.Requirement == pair.Requirement && beyond != tc.beyond {
						t.Errorf("%s on %s: %s", v.Requirement, v.Operation, e.Curl)
					}
				}
			}
		}))
	}
}

func TestHowLongTheKeyRests(t *testing.T) {
	says := func(seconds string) http.Header { return http.Header{"Retry-After": {seconds}} }
	bucket := recovery{typical: 100 * time.Millisecond, longest: time.Second}
	for name, tc := range map[string]struct {
		recovery recovery
		refusal  http.Header
		n        int
		want     time.Duration
		promised bool
	}{
		"as is promised":                  {recovery{believed: true}, says("7"), 0, 7 * time.Second, true},
		"as is promised, not as measured": {recovery{typical: time.Second, believed: true}, says("7"), 3, 7 * time.Second, true},
		"as was measured":                 {bucket, says("7"), 0, 160 * time.Millisecond, false},
		"twice as long":                   {bucket, says("7"), 2, 640 * time.Millisecond, false},
		"nothing is promised":             {recovery{believed: true}, says("0"), 0, firstWait, false},
		"nothing is known":                {recovery{believed: true}, nil, 1, 2 * firstWait, false},
		"no longer than half a minute":    {recovery{}, nil, 40, longWait, false},
		"but as long as was measured":     {recovery{typical: time.Minute}, nil, 3, margin(time.Minute), false},
	} {
		if got, promised := tc.recovery.wait(tc.refusal, tc.n); got != tc.want || promised != tc.promised {
			t.Errorf("%s: %s (promised: %t), want %s", name, got, promised, tc.want)
		}
	}
}

func TestWhatIsNotWaitedFor(t *testing.T) {
	api, err := client.New(client.Options{BaseURL: "http://127.0.0.1:1", MaxThrottle: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	measured := recovery{typical: 10 * time.Minute, longest: 10 * time.Minute}
	promise := recovery{believed: true}
	for name, tc := range map[string]struct {
		recovery recovery
		says     string
		duration time.Duration
		shut     time.Duration
		want     string // the beginning; empty: it is waited for
	}{
		"there is time":                        {promise, "60", 2 * time.Hour, 0, ""},
		"promised beyond the duration":         {promise, "3600", 30 * time.Minute, 0, "Retry-After says 3,600 s, but only "},
		"the duration is over":                 {promise, "3600", 0, 0, "Retry-After says 3,600 s, but the scenario's duration is used up "},
		"promised beyond the patience":         {promise, "3700", 2 * time.Hour, 0, "Retry-After says 3,700 s, longer than the maximum wait "},
		"promised, waited for, promised again": {promise, "60", 0, 2 * time.Minute, ""},
		"measured beyond the duration":         {measured, "", time.Minute, 0, "the limiter blocks for up to 600 s, but only "},
		"disproved, and there is time":         {measured, "86400", 2 * time.Hour, 0, ""},
		"shut for longer than ever seen":       {measured, "", time.Minute, 12 * time.Minute, ""},
		"nothing is known":                     {recovery{}, "", 0, 0, ""},
	} {
		p := &prober{r: &runner{env: &Env{Env: prepare.Env{Client: api}}, started: time.Now(), scenario: scenario.Scenario{Duration: tc.duration}}, recovery: tc.recovery}
		refusal := http.Header{}
		if tc.says != "" {
			refusal.Set("Retry-After", tc.says)
		}
		if got := p.obstacle(refusal, 0, tc.shut); !strings.HasPrefix(got, tc.want) || (got == "") != (tc.want == "") {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func TestWhatIsKnownOfTheRecovery(t *testing.T) {
	known := func(s float64) load.Finding { return load.Finding{Known: true, High: s} }
	for name, tc := range map[string]struct {
		result load.Limiter
		shut   time.Duration
		want   recovery
	}{
		"nothing":        {load.Limiter{}, 0, recovery{believed: true}},
		"an opening":     {load.Limiter{}, time.Second, recovery{time.Second, time.Second, true}},
		"drains":         {load.Limiter{Recovery: known(2)}, time.Second, recovery{2 * time.Second, 2 * time.Second, true}},
		"a slower layer": {load.Limiter{Recovery: known(2), Layers: []load.Layer{{Window: known(3)}, {Window: known(60)}}}, 0, recovery{2 * time.Second, time.Minute, true}},
		"a lie":          {load.Limiter{RetryAfter: load.RetryAfter{Verdict: load.Answer{Value: infer.TooLong}}}, 0, recovery{}},
		"the truth":      {load.Limiter{RetryAfter: load.RetryAfter{Verdict: load.Answer{Value: infer.Honest}}}, 0, recovery{believed: true}},
	} {
		if got := recoveryOf(tc.result, tc.shut); got != tc.want {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
}

func TestWhatIsKeptForAfterwards(t *testing.T) {
	for duration, want := range map[time.Duration]time.Duration{
		3 * time.Second: 1500 * time.Millisecond, 10 * time.Second: 2 * time.Second, 40 * time.Second: 5 * time.Second, 15 * time.Minute: time.Minute,
	} {
		if got := timeAfterwards(duration); got != want {
			t.Errorf("of %s %s, want %s", duration, got, want)
		}
	}
}

func TestHowLongTheKeyWasShut(t *testing.T) {
	start := time.Now()
	at := func(subject infer.Subject, status int, sent, received int) infer.Observation {
		return infer.Observation{Subject: subject, Status: status, Sent: start.Add(time.Duration(sent) * time.Second), Received: start.Add(time.Duration(received) * time.Second)}
	}
	var s blocked
	s.add([]infer.Observation{at(infer.Main, 200, 0, 1), at(infer.Main, 429, 2, 3), at(infer.OtherKey, 200, 4, 5), at(infer.Main, 429, 5, 6)})
	s.add([]infer.Observation{at(infer.Main, 200, 8, 9), at(infer.Main, 429, 10, 11), at(infer.Main, 200, 12, 13)})
	if s.longest != 7*time.Second || !s.since.IsZero() {
		t.Errorf("%+v, want 7 s", s)
	}
}

package hostile

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"outreach.example/conformance/spec"
)

// short is the timeout of requests to targets that do not respond.
const short = "1s"

// timing are targets that are slow, hang, or throttle.
func timing() []Behaviour {
	// A hanging target is given up after a few requests, each of which takes the timeout.
	slow := func(name, doc string, v Verdict, play player) Behaviour {
		return Behaviour{Name: "timing/" + name, Doc: doc, Why: "no bound on the time of a response is stated; the harness has one", Verdict: v, Play: play,
			Args: append(listing[:len(listing):len(listing)], "--timeout", short)}
	}
	hanging := func(send func(http.ResponseWriter, answer)) player {
		return served(func(w http.ResponseWriter, r *http.Request, a answer) {
			send(w, a)
			_ = http.NewResponseController(w).Flush() // the client may have gone
			hang(r)
		})
	}
	drip := func(w http.ResponseWriter, r *http.Request, text []byte, every time.Duration) {
		for i := range text {
			if _, err := w.Write(text[i : i+1]); err != nil || r.Context().Err() != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
			time.Sleep(every)
		}
	}
	throttling := func(name, doc string, v Verdict, header http.Header, refuses func(r *http.Request, n int64) bool) Behaviour {
		return Behaviour{Name: "timing/429-" + name, Doc: doc, Why: "Errors: every endpoint can return 429", Verdict: v,
			Play: func(next http.Handler) http.Handler {
				var n atomic.Int64
				return served(func(w http.ResponseWriter, r *http.Request, a answer) {
					if refuses(r, n.Add(1)) {
						a = refuse(http.StatusTooManyRequests, "slow down")
						for name, values := range header {
							a.header[name] = values
						}
					}
					a.send(w)
				})(next)
			}}
	}
	always := func(*http.Request, int64) bool { return true }
	everyThird := func(_ *http.Request, n int64) bool { return n%3 == 0 }
	after := func(value string) http.Header { return http.Header{"Retry-After": {value}} }
	throttled := inconclusive("429")
	lost := inconclusive("")
	list := []Behaviour{
		slow("no-response", "never responds to a valid request", lost, hanging(func(http.ResponseWriter, answer) {})),
		slow("no-body", "sends the header block and hangs", lost, hanging(func(w http.ResponseWriter, a answer) {
			w.Header().Set("Content-Length", fmt.Sprint(len(a.body)))
			w.WriteHeader(http.StatusOK)
		})),
		slow("half-a-body", "sends half the body and hangs", lost, hanging(func(w http.ResponseWriter, a answer) {
			w.Header().Set("Content-Length", fmt.Sprint(len(a.body)))
			_, _ = w.Write(a.body[:len(a.body)/2])
		})),
		slow("drips-the-body", "sends a byte of the body every 50 ms", lost, served(func(w http.ResponseWriter, r *http.Request, a answer) {
			w.Header().Set("Content-Length", fmt.Sprint(len(a.body)))
			drip(w, r, a.body, 50*time.Millisecond)
		})),
		slow("drips-the-head", "sends a byte of the header block every 50 ms", lost, served(func(w http.ResponseWriter, _ *http.Request, a answer) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				return
			}
			defer func() { _ = conn.Close() }()
			for _, c := range a.text() {
				if _, err := conn.Write([]byte{c}); err != nil {
					return
				}
				time.Sleep(50 * time.Millisecond)
			}
		})),
		slow("every-fifth-hangs", "does not respond to every fifth valid request", Verdict{Codes: []int{exitInconclusive}}, func(next http.Handler) http.Handler {
			var n atomic.Int64
			return served(func(w http.ResponseWriter, r *http.Request, a answer) {
				if n.Add(1)%5 == 0 {
					hang(r)
					return
				}
				a.send(w)
			})(next)
		}),
		slow("switches-and-hangs", "answers 101 and hangs", noPass("STATUS-200", "STATUS-ALLOWED", "SERVED", "PAGE-LIMIT-*"), served(func(w http.ResponseWriter, r *http.Request, _ answer) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				return
			}
			defer func() { _ = conn.Close() }()
			_, _ = conn.Write([]byte("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"))
			time.Sleep(30 * time.Second)
		})),
		{Name: "timing/slow-but-steady", Doc: "takes 200 ms for each response", Why: "no bound is stated", Verdict: passes(),
			Play: all(func(w http.ResponseWriter, _ *http.Request, a answer) {
				time.Sleep(200 * time.Millisecond)
				a.send(w)
			})},
		{Name: "timing/drips-whole-pages", Doc: "sends a body in 20 parts", Why: "no bound is stated", Verdict: passes(),
			Play: served(func(w http.ResponseWriter, _ *http.Request, a answer) {
				w.Header().Set("Content-Type", "application/json")
				for len(a.body) > 0 {
					n := min(len(a.body), 1000)
					_, _ = w.Write(a.body[:n]) // the client may have gone
					_ = http.NewResponseController(w).Flush()
					a.body = a.body[n:]
					time.Sleep(time.Millisecond)
				}
			})},
		{Name: "timing/creations-hang", Doc: "stores tests and never responds to their creation", Why: "a creation whose response is lost leaves a row without a known id",
			Args: append(judging(spec.CreatePlacementTest, "state"), "--timeout", short), Verdict: inconclusive(""), Leaves: "their ids are unknown",
			Play: served(func(w http.ResponseWriter, r *http.Request, a answer) {
				if isOperation(r, spec.CreatePlacementTest) {
					hang(r)
					return
				}
				a.send(w)
			})},
		{Name: "timing/deletions-hang", Doc: "never responds to a deletion, and deletes nothing", Why: "cleaning up has a bound, and reports what remains",
			Args: append(judging(spec.GetPlacementTest, "state"), "--timeout", short), Verdict: Verdict{Codes: []int{exitPass, exitFail, exitInconclusive}, Fails: []string{"STATE-*"}},
			Leaves: "no deletion is possible",
			Play: func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if isOperation(r, spec.DeletePlacementTest) && token(r) != "" {
						hang(r)
						return
					}
					next.ServeHTTP(w, r)
				})
			}},
		throttling("always", "answers only 429", throttled, nil, always),
		throttling("always-after-1", "answers only 429 with Retry-After: 1", throttled, after("1"), always),
		throttling("one-operation", "answers only 429 to one operation", throttled, nil, func(r *http.Request, _ int64) bool { return isOperation(r, spec.ListLeadLists) }),
		throttling("for-a-day", "answers 429 with Retry-After: 86400", throttled, after("86400"), always),
		throttling("for-ever", "answers 429 with a Retry-After of 100 digits", throttled, after(strings.Repeat("9", 100)), always),
		throttling("until-9999", "answers 429 with a Retry-After in the year 9999", throttled, after("Fri, 31 Dec 9999 23:59:59 GMT"), always),
		throttling("sometimes", "answers every third request with 429", passes(), nil, everyThird),
		throttling("after-0", "answers every third request with 429 and Retry-After: 0", passes(), after("0"), everyThird),
		throttling("after-minus-1", "answers every third request with 429 and Retry-After: -1", passes(), after("-1"), everyThird),
		throttling("after-words", "answers every third request with 429 and a Retry-After in words", passes(), after("soon \u202e"), everyThird),
		throttling("after-100-kB", "answers every third request with 429 and a Retry-After of 100 kB", passes(), after(strings.Repeat("x", 100_000)), everyThird),
		throttling("after-1970", "answers every third request with 429 and a Retry-After in 1970", passes(), after("Thu, 01 Jan 1970 00:00:00 GMT"), everyThird),
		throttling("after-twice", "sends two Retry-After headers with every third response", passes(), http.Header{"Retry-After": {"1", "junk"}}, everyThird),
	}
	for i := range list {
		if strings.Contains(list[i].Name, "/429-one-operation") {
			list[i].Args = judging(spec.ListLeadLists+","+spec.ListLeadLabels, "shape")
		}
	}
	return append(list, Behaviour{Name: "timing/503-retry-after", Doc: "answers 503 with Retry-After", Why: onlyThese, Verdict: wrongStatus,
		Play: changed(func(a *answer) {
			*a = refuse(http.StatusServiceUnavailable, "later")
			a.header.Set("Retry-After", "3600")
			a.body = bytes.TrimSpace(a.body)
		})})
}

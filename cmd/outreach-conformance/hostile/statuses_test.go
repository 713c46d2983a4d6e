package hostile

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
)

// wrongStatus fails STATUS-200. A limit that gets such an answer is not accepted either.
var wrongStatus = fails("STATUS-200", "STATUS-ALLOWED", "PAGE-LIMIT-*")

const onlyThese = "Endpoints: a valid request gets 200; Errors lists 401, 402, 404 and 429"

// statuses are wrong status codes.
func statuses() []Behaviour {
	var list []Behaviour
	for _, s := range []struct {
		status int
		v      Verdict
	}{
		{201, wrongStatus}, {202, wrongStatus}, {203, wrongStatus}, {204, wrongStatus}, {205, wrongStatus}, {206, wrongStatus}, {226, wrongStatus},
		{299, wrongStatus}, {300, wrongStatus}, {304, wrongStatus}, {305, wrongStatus}, {400, wrongStatus},
		{401, inconclusive("refuses")}, {402, wrongStatus}, {403, inconclusive("refuses")},
		{404, fails("SERVED")}, {405, fails("SERVED")}, {406, wrongStatus}, {408, wrongStatus}, {409, wrongStatus}, {410, wrongStatus},
		{413, wrongStatus}, {415, wrongStatus}, {418, wrongStatus}, {421, wrongStatus}, {422, wrongStatus}, {425, wrongStatus},
		{426, wrongStatus}, {451, wrongStatus}, {499, wrongStatus},
		{500, wrongStatus}, {501, fails("SERVED")}, {502, wrongStatus}, {503, wrongStatus}, {504, wrongStatus}, {507, wrongStatus}, {511, wrongStatus},
		{599, wrongStatus}, {600, wrongStatus}, {999, wrongStatus},
	} {
		list = append(list, Behaviour{Name: fmt.Sprintf("status/%d", s.status), Doc: fmt.Sprintf("answers %d to every valid request", s.status), Why: onlyThese, Verdict: s.v,
			Play: changed(func(a *answer) {
				refused := refuse(s.status, "no")
				if s.status == http.StatusNoContent || s.status == http.StatusNotModified {
					refused.body = nil
				}
				*a = refused
			})})
	}
	everywhere := func(name, doc string, v Verdict, respond func(http.ResponseWriter)) Behaviour {
		return Behaviour{Name: "status/" + name, Doc: doc, Why: onlyThese, Verdict: v,
			Play: all(func(w http.ResponseWriter, _ *http.Request, _ answer) { respond(w) })}
	}
	portal := func(status int) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(status)
			_, _ = w.Write([]byte("<html><title>Welcome</title><body>Please log in to the network</body></html>"))
		}
	}
	return append(list,
		everywhere("captive-portal", "answers every request with the page of a captive portal and 200", fails("*"), portal(http.StatusOK)),
		everywhere("captive-portal-511", "answers every request with 511 and the page of a captive portal", wrongStatus, portal(http.StatusNetworkAuthenticationRequired)),
		everywhere("gateway-down", "is a gateway whose service is down", inconclusive("down"), portal(http.StatusBadGateway)),
		everywhere("unavailable", "answers 503 to everything", inconclusive("down"), portal(http.StatusServiceUnavailable)),
		Behaviour{Name: "status/every-second-500", Doc: "fails on every second valid request", Why: onlyThese, Verdict: wrongStatus, Play: everySecond(refuse(500, "again"))},
		Behaviour{Name: "status/every-second-401", Doc: "forgets its keys on every second request", Why: onlyThese, Verdict: wrongStatus, Play: everySecond(refuse(401, "who are you"))},
		Behaviour{Name: "status/error-body-of-7-MB", Doc: "explains an error in 7 MB", Why: "the body of a 500 is not shown", Verdict: wrongStatus,
			Play: changed(func(a *answer) { *a = refuse(500, strings.Repeat("sorry ", 7<<20/6)) })},
		Behaviour{Name: "status/empty-500", Doc: "answers 500 without a body", Why: "the body of a 500 is not shown", Verdict: wrongStatus,
			Play: changed(func(a *answer) { *a = answer{status: 500, header: http.Header{}} })},
	)
}

// everySecond replaces every second answer with status 200.
func everySecond(other answer) player {
	return func(next http.Handler) http.Handler {
		var n atomic.Int64
		return changed(func(a *answer) {
			if n.Add(1)%2 == 0 {
				*a = other
			}
		})(next)
	}
}

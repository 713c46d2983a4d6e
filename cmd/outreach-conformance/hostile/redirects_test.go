package hostile

import (
	"fmt"
	"net/http"
	"strings"
)

// redirects send the client elsewhere. No request may follow them, with or without a
// key: the tests count the requests that arrive at another host or path.
func redirects() []Behaviour {
	const why = "no operation redirects; a key must not follow"
	to := func(name, doc string, status int, v Verdict, location func(r *http.Request) string) Behaviour {
		return Behaviour{Name: "redirect/" + name, Doc: doc, Why: why, Verdict: v,
			Play: served(func(w http.ResponseWriter, r *http.Request, _ answer) {
				if l := location(r); l != "" {
					w.Header()["Location"] = []string{l}
				}
				w.WriteHeader(status)
			})}
	}
	elsewhere := func(r *http.Request) string {
		_, port, _ := strings.Cut(r.Host, ":")
		return "http://localhost:" + port + "/elsewhere"
	}
	constant := func(location string) func(*http.Request) string {
		return func(*http.Request) string { return location }
	}
	refused := wrongStatus
	var list []Behaviour
	for _, status := range []int{301, 302, 303, 307, 308} {
		list = append(list, to(fmt.Sprintf("%d-elsewhere", status), fmt.Sprintf("redirects valid requests to another host with %d", status), status, refused, elsewhere))
	}
	return append(list,
		to("to-itself", "redirects to the same address", 302, refused, func(r *http.Request) string { return r.URL.String() }),
		to("grows", "redirects to a longer address each time", 302, refused, func(r *http.Request) string { return r.URL.String() + "&x=1" }),
		to("without-location", "redirects to nowhere", 302, refused, constant("")),
		to("to-file", "redirects to a file", 302, refused, constant("file:///etc/passwd")),
		to("to-script", "redirects to a script", 302, refused, constant("javascript:alert(1)")),
		to("to-metadata", "redirects to the metadata service of a cloud", 307, refused, constant("http://169.254.169.254/latest/meta-data/")),
		to("to-garbage", "redirects to what is no address", 302, noPass(wrongStatus.Fails...), constant("http://[::1%zz]:99999999/\x7f%%%")),
		to("to-1-MB", "redirects to an address of 200 kB", 302, refused, constant("/"+strings.Repeat("x", 200_000))),
		to("with-password", "redirects to an address with a password", 302, refused, constant("http://user:password@localhost/")),
		to("to-login", "redirects to a login page", 302, refused, constant("/login?next=/api/v2")),
		to("to-https", "redirects to https", 301, refused, func(r *http.Request) string { return "https://" + r.Host + r.URL.RequestURI() }),
		Behaviour{Name: "redirect/whole-site", Doc: "has moved to another host with all its paths", Why: "the address of the target is wrong", Verdict: inconclusive("redirects to"),
			Play: all(func(w http.ResponseWriter, r *http.Request, _ answer) {
				_, port, _ := strings.Cut(r.Host, ":")
				w.Header().Set("Location", "http://localhost:"+port+r.URL.RequestURI())
				w.WriteHeader(http.StatusMovedPermanently)
			})},
		Behaviour{Name: "redirect/refresh", Doc: "asks to load another page in a header and in the body", Why: why, Verdict: passes(),
			Play: changed(func(a *answer) {
				a.header.Set("Refresh", "0; url=/elsewhere")
				a.header.Set("Link", "</elsewhere>; rel=canonical")
				a.header.Set("Alt-Svc", `h2="localhost:1"`)
				a.header.Set("Content-Location", "/elsewhere")
			})},
		Behaviour{Name: "redirect/cookies", Doc: "sets 500 cookies and expects them back", Why: "the specification knows no cookies", Verdict: passes(),
			Play: changed(func(a *answer) {
				for i := range 500 {
					a.header.Add("Set-Cookie", fmt.Sprintf("c%d=%s; Path=/; Max-Age=31536000", i, strings.Repeat("v", 100)))
				}
			})},
	)
}

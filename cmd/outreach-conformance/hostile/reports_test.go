package hostile

import (
	"fmt"
	"net/http"
	"strings"
)

// nasty are texts that do harm in a terminal, a workflow, XML, HTML or a shell.
var nasty = []struct{ name, doc, text string }{
	{"terminal", "terminal sequences", "\x1b]0;owned\a\x1b[2J\x1b[31m\u009b1A"},
	{"direction", "direction marks", "\u202eSSAP\u202c \u2066\u2069\u200f"},
	{"workflow", "GitHub workflow commands", "\n::error file=x::forged\n::set-env name=A::b\n::stop-commands::x\n##[error]x\r::add-mask::pass"},
	{"xml", "what ends a CDATA section, and characters that XML has not", "]]><failure/>\x00\x01\x0b\ufffe\uffff<!--"},
	{"html", "scripts", `</script><script>document.title="owned"</script><img src=x onerror=alert(1)>`},
	{"markdown", "Markdown", "| x | [a](javascript:alert(1)) ``` ![](http://127.0.0.1:1/x) <!-- \n# heading"},
	{"shell", "shell commands", "'; touch owned; echo ' $(touch owned) `touch owned` \\"},
	{"format", "format verbs", "%s%n%d%!v(PANIC=x)%%%c{{.}}${jndi:ldap://127.0.0.1:1/x}"},
	{"verdict", "the words of a pass", "\n✓ PASS  exit 0 · 18 of 18 operations · 1,800 of 1,800 checks passed\n\r1,800 passed"},
	{"combining", "combining characters", strings.Repeat("e"+strings.Repeat("\u0301", 50), 20)},
	{"wide", "wide and private characters", "🏴\U000e0067\U000e0062\U000e007f 漢字 \ue000\U0010ffff"},
	{"not-utf-8", "bytes that are not UTF-8", "\xff\xfe\xc0\x80 caf\xe9"},
}

// reportTexts are texts that must not do harm in what the run prints and writes.
func reportTexts() []Behaviour {
	var list []Behaviour
	add := func(name, doc string, args []string, v Verdict, play player) {
		list = append(list, Behaviour{Name: "report/" + name, Doc: doc, Why: "people and programs read what the run prints and writes", Args: args, Verdict: v, Play: play})
	}
	quoted := func(text string) string { return string(encode(text)) }
	for _, n := range nasty {
		add(n.name+"-in-message", "puts "+n.doc+" into an error message", nil, wrongStatus, changed(func(a *answer) { *a = refuse(500, n.text) }))
		add(n.name+"-in-body", "sends "+n.doc+" as a body", nil, wrongStatus, changed(func(a *answer) {
			*a = answer{http.StatusTeapot, http.Header{"Content-Type": {"text/plain"}}, []byte(n.text)}
		}))
		add(n.name+"-in-names", "puts "+n.doc+" into ids and the names of fields", nil, fails("SHAPE-LEAD_LIST-ID-VALUE", "PAGE-*", "BODY-JSON"), body(func(b []byte) []byte {
			b = []byte(strings.ReplaceAll(string(b), `"id":"`, `"id":`+strings.TrimSuffix(quoted(n.text), `"`)))
			return []byte(strings.ReplaceAll(string(b), `"name":`, quoted("n"+n.text)+`:1,"name":`))
		}))
	}
	add("header-values", "puts all of that into headers", nil, noFailure(), changed(func(a *answer) {
		for _, n := range nasty {
			a.header.Add("X-Request-Id", strings.NewReplacer("\n", "", "\r", "", "\x00", "").Replace(n.text))
		}
	}))
	add("message-of-1-MB", "explains an error in 1 MB", nil, wrongStatus, changed(func(a *answer) { *a = refuse(500, strings.Repeat("sorry ", 1<<20/6)) }))
	add("every-row-wrong", "breaks 8 fields of each row in its own way", judging("*.list", "shape,pages"), fails("SHAPE-*", "PAGE-*"), func(next http.Handler) http.Handler {
		n := 0
		return row(func(row map[string]any) {
			for name := range row {
				n++
				row[name] = []any{fmt.Sprint("wrong ", n, strings.Repeat("w", 2000))}
			}
		})(next)
	})
	list[len(list)-1].MiB = 320 // each field of each row has 2 kB, and ten lists are read at the same time
	list[len(list)-1].Leaves, list[len(list)-1].Hidden = "no id and no name of a created row is true", true
	add("all-operations-explain", "answers 500 with 100 kB to every request with a key", []string{"run"}, Verdict{Codes: []int{exitFail, exitInconclusive}, Fails: []string{"*"}},
		keyed(func(w http.ResponseWriter, _ string) { refuse(500, strings.Repeat("<&'\"\x1b", 20_000)).send(w) }))
	return list
}

package client

import (
	"cmp"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// A redactor finds known secrets in text. Secrets are added while it is in use, so
// its table is replaced and never changed.
type redactor struct {
	mu      sync.Mutex
	known   map[string]bool // tokens
	needles []needle
	table   atomic.Pointer[needleTable]
}

// needleTable holds needles by first byte, longest first.
type needleTable struct {
	by      [256][]needle
	longest int // bytes of the longest needle
}

// A needle is one form of a secret.
type needle struct {
	text   string
	env    string // the variable that can replace this form; may be empty
	base64 bool   // part of a base64 string, which is redacted whole
	word   bool   // matches only as a separate word, because it is short
}

// piece is a part of a redacted text: literal text, or the name of an environment
// variable.
type piece struct{ text, env string }

func newRedactor(keys []Key, secrets []string) *redactor {
	r := &redactor{known: map[string]bool{}}
	for _, k := range keys {
		r.add(k.Token, k.Env())
	}
	for _, s := range secrets {
		r.add(s, "")
	}
	r.index()
	return r
}

// Redacting returns a function like Client.Redact for texts without a client, such
// as container logs. It calls secrets each time, because keys may be added, and
// replaces each secret by [redacted].
func Redacting(secrets func() []string) func(string) string {
	r := newRedactor(nil, nil)
	return func(s string) string {
		r.learnSecrets(secrets())
		return r.redact(s)
	}
}

// RedactingWriter returns a writer that redacts each write before it passes it on.
// Each write must be a whole line: a secret in two writes is not found.
func RedactingWriter(to io.Writer, redact func(string) string) io.Writer {
	return redactingWriter{to, redact}
}

type redactingWriter struct {
	to     io.Writer
	redact func(string) string
}

func (w redactingWriter) Write(line []byte) (int, error) {
	if _, err := io.WriteString(w.to, w.redact(string(line))); err != nil {
		return 0, err
	}
	return len(line), nil
}

func (r *redactor) learnSecrets(secrets []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := len(r.known)
	for _, s := range secrets {
		r.add(s, "")
	}
	if len(r.known) > before {
		r.index()
	}
}

// learn adds the key of a request.
func (r *redactor) learn(k Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k.Token != "" && !r.known[k.Token] {
		r.add(k.Token, k.Env())
		r.index()
	}
}

func (r *redactor) add(secret, env string) {
	if secret == "" || r.known[secret] {
		return
	}
	r.known[secret] = true
	r.needles = append(r.needles, needlesOf(secret, env)...)
}

func (r *redactor) index() {
	var table needleTable
	for _, n := range r.needles {
		table.by[n.text[0]] = append(table.by[n.text[0]], n)
		table.longest = max(table.longest, len(n.text))
	}
	for _, bucket := range table.by {
		slices.SortStableFunc(bucket, func(a, b needle) int { return cmp.Compare(len(b.text), len(a.text)) })
	}
	r.table.Store(&table)
}

func (r *redactor) redact(s string) string {
	var b strings.Builder
	for _, p := range r.pieces(s) {
		if p.env != "" {
			b.WriteByte('$')
			b.WriteString(p.env)
		}
		b.WriteString(p.text)
	}
	return b.String()
}

// pieces splits s into literal text and redacted secrets.
func (r *redactor) pieces(s string) []piece {
	var out []piece
	literal := func(text string) {
		if text != "" {
			out = append(out, piece{text: text})
		}
	}
	done := 0
	for _, f := range merge(r.find(s)) {
		literal(s[done:f.start])
		if f.env != "" {
			out = append(out, piece{env: f.env})
		} else {
			literal("[redacted]")
		}
		done = f.end
	}
	literal(s[done:])
	return out
}

// found is the position of a secret in a text.
type found struct {
	start, end int
	env        string
}

// find searches the text plain, percent-decoded, and decoded twice (a query inside
// a query).
func (r *redactor) find(s string) []found {
	table := r.table.Load()
	v := plainView(s)
	all := table.look(v, nil)
	for range 2 {
		decoded, changed := v.percentDecoded()
		if !changed {
			break
		}
		v = decoded
		all = table.look(v, all)
	}
	return all
}

// look appends the secrets in a view, complete or truncated.
func (t *needleTable) look(v view, all []found) []found { return t.truncated(v, t.scan(v, all)) }

// scan appends the complete secrets in a view, as positions in the original text.
func (t *needleTable) scan(v view, all []found) []found {
	for i := 0; i < len(v.text); {
		end, hit := t.at(v.text, i)
		if hit == nil {
			i++
			continue
		}
		start := i
		if hit.base64 {
			start, end = base64Run(v.text, start, end)
		}
		all = append(all, found{v.origin(start), v.origin(end), hit.env})
		i = end
	}
	return all
}

// at returns the longest needle at position i and its end.
func (t *needleTable) at(text string, i int) (end int, hit *needle) {
	bucket := t.by[text[i]]
	for k := range bucket {
		n := &bucket[k]
		if !strings.HasPrefix(text[i:], n.text) {
			continue
		}
		end = i + len(n.text)
		if n.word && (i > 0 && isWordByte(text[i-1]) || end < len(text) && isWordByte(text[end])) {
			continue
		}
		return end, n
	}
	return 0, nil
}

// merge sorts the secrets found and joins overlapping ones. A joined secret loses
// its variable, unless both cover the same text.
func merge(all []found) []found {
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(a.start, b.start) })
	var out []found
	for _, f := range all {
		if len(out) == 0 || f.start >= out[len(out)-1].end {
			out = append(out, f)
			continue
		}
		last := &out[len(out)-1]
		if f.start != last.start || f.end != last.end {
			last.end, last.env = max(last.end, f.end), ""
		}
	}
	return out
}

// ellipses mark where a text was truncated. So does its end.
var ellipses = []string{"…", "..."}

// truncated appends truncated secrets of at least minSecret bytes. Texts may be
// truncated before they are redacted, and a truncated token must be redacted too.
func (t *needleTable) truncated(v view, all []found) []found {
	for _, end := range cutPositions(v.text) {
		for _, until := range []int{end, withoutEscape(v.text, end)} {
			start, hit := t.longestPrefix(v.text, until)
			if hit == nil {
				continue
			}
			if hit.base64 {
				start, _ = base64Run(v.text, start, until)
			}
			// Keys may share a prefix, so the variable is unknown.
			all = append(all, found{start: v.origin(start), end: v.origin(end)})
			break
		}
	}
	return all
}

// cutPositions returns where the text may be truncated, before any white space.
func cutPositions(text string) []int {
	ends := []int{len(text)}
	for _, mark := range ellipses {
		for at := 0; ; {
			next := strings.Index(text[at:], mark)
			if next < 0 {
				break
			}
			ends = append(ends, at+next)
			at += next + len(mark)
		}
	}
	for i, end := range ends {
		ends[i] = len(strings.TrimRight(text[:end], " \r\n"))
	}
	slices.Sort(ends)
	return slices.Compact(ends)
}

// withoutEscape drops a percent escape that was cut in two.
func withoutEscape(text string, end int) int {
	for short := range 2 { // "%" and "%2"
		at := end - 1 - short
		if at < 0 {
			return end
		}
		if text[at] == '%' {
			return at
		}
		if _, isHex := hexDigit(text[at]); !isHex {
			return end
		}
	}
	return end
}

// longestPrefix returns the longest prefix of a needle that ends at end.
func (t *needleTable) longestPrefix(text string, end int) (start int, hit *needle) {
	for i := max(0, end-t.longest); i <= end-minSecret; i++ {
		bucket := t.by[text[i]]
		for k := range bucket {
			if n := &bucket[k]; len(n.text) > end-i && strings.HasPrefix(n.text, text[i:end]) {
				return i, n
			}
		}
	}
	return 0, nil
}

package redact

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"iter"
	"math/bits"
	"slices"
	"sync"
)

// table finds the forms of all secrets in one pass. It looks at each stride-th window
// of a text: a part that is long enough covers one of them.
type table struct {
	known  map[string]string // secret → the variable that stands for it; may be empty
	public []byte            // folded texts that are no secrets, one per line
	asked  *sync.Map         // part of a form → whether it is in public: a flood of keys asks often

	forms   []form
	words   []form // of short secrets
	stride  int
	windows int
	filter  []uint64 // a bit for the hash of each window of a form
	slots   []slot   // the windows by hash, open addressing
}

// slot is a window of a form.
type slot struct {
	window       uint64
	form, offset int32 // form is an index plus 1; 0 is an empty slot
}

// windowBytes is the length of a window.
const windowBytes = 8

// window reads a window and folds its letters. Some other characters become equal too.
func window[T []byte | string](text T, at int) uint64 {
	var b [windowBytes]byte
	copy(b[:], text[at:at+windowBytes])
	return binary.LittleEndian.Uint64(b[:]) | 0x2020202020202020
}

func hash(window uint64) uint64 { return window * 0x9e3779b97f4a7c15 }

// add adds the forms of a secret.
func (t *table) add(forms []form) {
	first := len(t.forms)
	if first == 0 {
		t.stride = minPart - windowBytes + 1
	}
	for _, f := range forms {
		if f.word {
			t.words = append(t.words, f)
			continue
		}
		t.forms = append(t.forms, f)
		t.stride = min(t.stride, f.need()-windowBytes+1)
		t.windows += len(f.text) - windowBytes + 1
	}
	if 2*t.windows > len(t.slots) {
		size := 1 << bits.Len(uint(2*t.windows))
		t.slots, t.filter, first = make([]slot, size), make([]uint64, size/8), 0
	}
	for i := first; i < len(t.forms); i++ {
		text := t.forms[i].text
		for at := range len(text) - windowBytes + 1 {
			t.insert(slot{window(text, at), int32(i + 1), int32(at)})
		}
	}
}

// publish adds a text that is no secret.
func (t *table) publish(text string) {
	t.public, t.asked = append(append(t.public, '\n'), folded([]byte(text))...), &sync.Map{}
}

// isPublic reports whether the harness prints a part of a form of its own.
func (t *table) isPublic(f form, part string) bool {
	if !f.plain {
		return false
	}
	if known, ok := t.asked.Load(part); ok {
		return known.(bool)
	}
	public := bytes.Contains(t.public, []byte(part))
	t.asked.Store(part, public)
	return public
}

// insert adds a window. Of a monotonous form it keeps only as many equal windows as a
// match needs, because each is tried.
func (t *table) insert(s slot) {
	h := hash(s.window)
	t.filter[t.word(h)] |= 1 << (h >> 58)
	equal := 0
	for at := t.first(h); equal < minPart-windowBytes+1; at = (at + 1) & (len(t.slots) - 1) {
		switch other := t.slots[at]; {
		case other.form == 0:
			t.slots[at] = s
			return
		case other.form == s.form && other.window == s.window:
			equal++
		}
	}
}

// word and first return the place of a hash in the filter and in the slots.
func (t *table) word(h uint64) int  { return int(h>>32) & (len(t.filter) - 1) }
func (t *table) first(h uint64) int { return int(h>>32) & (len(t.slots) - 1) }

// span is the position of a secret in a text.
type span struct {
	start, end  int
	env, secret string // if the text is the secret itself, escaped or not
	exact       bool
	core        [2]int // the matching part; the span is the word around it
}

// Long texts are searched in pieces, which overlap by more than a part with escapes
// needs.
const (
	pieceBytes   = 64 << 10
	overlapBytes = 4 << 10
)

// find returns the secrets in a text, in order and apart from each other.
func (t *table) find(text []byte) []span {
	if len(t.forms) == 0 {
		return nil
	}
	var all []span
	for start := 0; ; start += pieceBytes - overlapBytes {
		end := min(len(text), start+pieceBytes)
		piece := view{text: text[start:end], more: end < len(text)}
		if t.look(piece, nil) {
			piece.indexed = true
			t.look(piece, func(s span) {
				s.start, s.end, s.core[0], s.core[1] = s.start+start, s.end+start, s.core[0]+start, s.core[1]+start
				all = append(all, s)
			})
		}
		if end == len(text) {
			return merge(all)
		}
	}
}

// look searches all layers of a view. Without found it stops at the first secret.
func (t *table) look(of view, found func(span)) (any bool) {
	for v := range layers(of) {
		if t.scan(v, found) {
			if any = true; found == nil {
				break
			}
		}
	}
	return any
}

// scan searches a view.
func (t *table) scan(v view, found func(span)) (any bool) {
	for at := 0; at+windowBytes <= len(v.text); at += t.stride {
		if t.scanAt(v, at, found) {
			if any = true; found == nil {
				return true
			}
		}
	}
	for cut := range cuts(v) {
		for at := max(0, cut-minPart+1); at+windowBytes <= cut; at++ {
			if t.scanAt(v, at, found) {
				any = true
			}
		}
	}
	return any
}

// scanAt searches a view at one window.
func (t *table) scanAt(v view, at int, found func(span)) (any bool) {
	w := binary.LittleEndian.Uint64(v.text[at:]) | 0x2020202020202020
	h := hash(w)
	if t.filter[t.word(h)]&(1<<(h>>58)) == 0 {
		return false
	}
	for i := t.first(h); t.slots[i].form != 0; i = (i + 1) & (len(t.slots) - 1) {
		if t.slots[i].window != w {
			continue
		}
		s, ok := t.match(v, at, t.slots[i])
		if !ok {
			continue
		}
		if any = true; found == nil {
			return true
		}
		found(s)
	}
	return any
}

// cuts yields where a text may be truncated: before each ellipsis, and at its end. A
// truncated secret is redacted from minSecret characters.
func cuts(v view) iter.Seq[int] {
	return func(yield func(int) bool) {
		for at := 0; ; {
			next := bytes.Index(v.text[at:], []byte("…"))
			if next < 0 {
				break
			}
			if !yield(len(bytes.TrimRight(v.text[:at+next], " "))) {
				return
			}
			at += next + len("…")
		}
		if !v.more {
			yield(len(bytes.TrimRight(v.text, " ")))
		}
	}
}

// truncated reports whether a text may be truncated at a position.
func truncated(v view, at int) bool {
	rest := bytes.TrimLeft(v.text[at:], " ")
	return len(rest) == 0 && !v.more || bytes.HasPrefix(rest, []byte("…"))
}

// match extends a window to all of the form that the view shows there. It reports
// whether that is enough.
func (t *table) match(v view, at int, s slot) (span, bool) {
	f := t.forms[s.form-1]
	start, end, first := at, at, int(s.offset)
	for start > 0 && first > 0 && lowerOf(v.text[start-1]) == f.text[first-1] {
		start, first = start-1, first-1
	}
	last := int(s.offset)
	for end < len(v.text) && last < len(f.text) && lowerOf(v.text[end]) == f.text[last] {
		end, last = end+1, last+1
	}
	whole := end-start == len(f.text)
	need := f.need()
	if first == 0 && truncated(v, end) {
		need = minSecret
	}
	if part := f.text[first:last]; len(part) < need || !whole && !varied(part) || t.isPublic(f, part) {
		return span{}, false
	}
	out := span{core: [2]int{v.begin(start), v.end(end)}}
	if whole && string(v.text[start:end]) == f.secret {
		out.env, out.secret, out.exact = t.known[f.secret], f.secret, true
	} else {
		start, end = wordAround(v.text, start, end)
	}
	out.start, out.end = v.begin(start), v.end(end)
	return out, true
}

// wordAround extends a part of a secret to the word around it, whose other characters
// may belong to the secret too.
func wordAround(text []byte, start, end int) (int, int) {
	for start > 0 && isTokenByte(text[start-1]) {
		start--
	}
	for end < len(text) && isTokenByte(text[end]) {
		end++
	}
	for end < len(text) && text[end] == '=' {
		end++
	}
	return start, end
}

// findWords returns the short secrets that are separate words, in their own letter case.
func (t *table) findWords(text []byte) []span {
	if len(t.words) == 0 {
		return nil
	}
	var all []span
	for v := range layers(view{text: text, indexed: true}) {
		for i := range t.words {
			f := &t.words[i]
			for at := 0; ; at++ {
				next := bytes.Index(v.text[at:], []byte(f.text))
				if next < 0 {
					break
				}
				at += next
				end := at + len(f.text)
				if at > 0 && isWordByte(v.text[at-1]) || end < len(v.text) && isWordByte(v.text[end]) {
					continue
				}
				s := span{start: v.begin(at), end: v.end(end), exact: true}
				if f.plain {
					s.env, s.secret = t.known[f.secret], f.secret
				}
				s.core = [2]int{s.start, s.end}
				all = append(all, s)
			}
		}
	}
	return all
}

// merge sorts spans and joins those that overlap. A part of a secret within another
// secret that is shown whole does not count.
func merge(all []span) []span {
	slices.SortStableFunc(all, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.core[0], b.core[0]), cmp.Compare(b.core[1], a.core[1]), cmp.Compare(rank(a), rank(b)))
	})
	var kept []span
	whole := -1 // end of the last exact span
	for _, s := range all {
		if s.core[1] <= whole {
			continue
		}
		if s.exact {
			whole = s.core[1]
		}
		kept = append(kept, s)
	}
	slices.SortStableFunc(kept, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	var out []span
	for _, s := range kept {
		if n := len(out) - 1; n >= 0 && s.start < out[n].end {
			out[n] = span{start: out[n].start, end: max(out[n].end, s.end)}
			continue
		}
		out = append(out, s)
	}
	return out
}

// rank puts an exact span before others of the same place.
func rank(s span) int {
	if s.exact {
		return 0
	}
	return 1
}

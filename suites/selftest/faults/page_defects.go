package faults

import (
	"net/http"
	"slices"

	"outreach.example/conformance/spec"
)

// pageDefects break the rules of the section Pagination on every list. Most
// serve the list themselves, from the target's rows, with one error.
func pageDefects() []Defect {
	var defects []Defect
	for _, op := range spec.Operations() {
		if op.Answer != spec.Page {
			continue
		}
		for _, w := range slices.Concat(limitDamages, walkDamages, cursorDamages) {
			if p := (spec.Pair{Requirement: w.breaks, Operation: op.ID}); spec.Has(p) {
				defects = append(defects, Defect{op.ID + "/" + w.name, p, w.doc,
					func(a *Target) Middleware { return a.paged(op.ID, w.paging) }})
			}
		}
		for _, l := range refusedLimits {
			defects = append(defects, Defect{op.ID + "/" + l.name, spec.Pair{Requirement: l.breaks, Operation: op.ID}, l.doc,
				func(*Target) Middleware { return where(op.ID, l.fits, refusing(l.status)) }})
		}
	}
	return slices.Concat(defects, changeDefects(), sortDefects())
}

// pageDamage is one error in serving a list.
type pageDamage struct {
	name, breaks, doc string
	paging            paging
}

// limitDamages misread the limit.
var limitDamages = []pageDamage{
	{"limit-taken-for-ten", "PAGE-LIMIT-HONOURED", "serves ten rows per page for any limit", sized(askedFor, 10)},
	{"limit-exceeded-by-one", "PAGE-LIMIT-HONOURED", "serves one row more than the limit", paging{before: when(askedFor, oneMore)}},
	{"highest-limit-exceeded", "PAGE-LIMIT-HONOURED", "serves one row more than a limit of 100", paging{before: when(limitIs("100"), oneMore)}},
	{"lowest-limit-exceeded", "PAGE-LIMIT-HONOURED", "serves two rows for a limit of one", paging{before: when(limitIs("1"), oneMore)}},
	{"limit-rounded-up", "PAGE-LIMIT-HONOURED", "rounds a limit up to whole tens", paging{before: when(askedFor, func(s *page) { s.size = (s.size + 9) / 10 * 10 })}},
	{"limit-exceeded-behind-first-page", "PAGE-LIMIT-HONOURED", "serves one row more than the limit on every page but the first",
		paging{before: when(both(askedFor, not(firstPage)), oneMore)}},
	{"last-pages-joined", "PAGE-LIMIT-HONOURED", "merges a partial last page into the previous one",
		paging{before: when(both(askedFor, lastButOne), func(s *page) { s.size = len(s.list) - s.from })}},

	{"no-limit-serves-all", "PAGE-LIMIT-ABSENT", "serves the whole list when no limit is sent", sized(not(askedFor), everything)},
	{"no-limit-serves-101", "PAGE-LIMIT-ABSENT", "serves 101 rows when no limit is sent", sized(not(askedFor), 101)},

	{"limit-0-serves-all", "PAGE-LIMIT-OUT-OF-RANGE", "treats a limit of 0 as none and serves the whole list", sized(limitIs("0"), everything)},
	{"limit-below-0-serves-all", "PAGE-LIMIT-OUT-OF-RANGE", "serves the whole list for a negative limit", sized(limitIs("-1"), everything)},
	{"limit-101-served", "PAGE-LIMIT-OUT-OF-RANGE", "serves 101 rows for a limit of 101", sized(limitIs("101"), 101)},
	{"limit-1000-served", "PAGE-LIMIT-OUT-OF-RANGE", "serves up to 1000 rows for a limit of 1000", sized(limitIs("1000"), 1000)},
	{"limit-in-words-serves-all", "PAGE-LIMIT-OUT-OF-RANGE", "serves the whole list for a limit that is not a number", sized(wordy, everything)},
}

// refusedLimits are limits that are wrongly refused or cause a server error.
var refusedLimits = []struct {
	name, breaks, doc string
	fits              func(Request) bool
	status            int
}{
	{"limit-1-refused", "PAGE-LIMIT-ACCEPTED", "refuses a limit of 1", limitSent("1"), http.StatusBadRequest},
	{"limit-100-refused", "PAGE-LIMIT-ACCEPTED", "refuses a limit of 100", limitSent("100"), http.StatusBadRequest},
	{"limit-99-refused", "PAGE-LIMIT-ACCEPTED", "refuses a limit above 50 that is not 100", limitSent("99"), http.StatusUnprocessableEntity},
	{"odd-limit-breaks-down", "PAGE-LIMIT-ACCEPTED", "returns 500 for an odd limit", func(r Request) bool { return sizeOf(r.Query.Get("limit"))%2 == 1 && r.Query.Has("limit") }, http.StatusInternalServerError},
	{"no-limit-refused", "PAGE-LIMIT-ABSENT", "requires a limit", func(r Request) bool { return !r.Query.Has("limit") }, http.StatusBadRequest},
	{"limit-0-breaks-down", "PAGE-LIMIT-OUT-OF-RANGE", "returns 500 for a limit of 0", limitSent("0"), http.StatusInternalServerError},
	{"limit-below-0-breaks-down", "PAGE-LIMIT-OUT-OF-RANGE", "returns 500 for a negative limit", limitSent("-1"), http.StatusInternalServerError},
	{"huge-limit-breaks-down", "PAGE-LIMIT-OUT-OF-RANGE", "returns 502 for a limit that overflows", func(r Request) bool { return len(r.Query.Get("limit")) > 18 }, http.StatusBadGateway},
	{"fraction-limit-breaks-down", "PAGE-LIMIT-OUT-OF-RANGE", "returns 500 for a fractional limit", limitSent("1.5"), http.StatusInternalServerError},
	{"limit-in-words-breaks-down", "PAGE-LIMIT-OUT-OF-RANGE", "returns 500 for a limit that is not a number", limitSent("ten"), http.StatusInternalServerError},
}

// cursorDamages use illegal cursors.
var cursorDamages = []pageDamage{
	{"cursor-a-position", "PAGE-CURSOR-VALUE", "uses positions as cursors", paging{form: numberCursor}},
	{"cursor-opaque", "PAGE-CURSOR-VALUE", "uses encoded objects as cursors", paging{form: opaqueCursor}},
	{"cursor-a-urn", "PAGE-CURSOR-VALUE", "uses URNs of UUIDs as cursors", paging{form: urnCursor}},
	{"cursor-without-dashes", "PAGE-CURSOR-VALUE", "uses UUIDs without dashes as cursors", paging{form: undashedCursor}},
	{"cursor-an-addressee", "PAGE-CURSOR-VALUE", "uses email addresses with a display name as cursors", paging{form: addresseeCursor}},
	{"cursor-a-link", "PAGE-CURSOR-VALUE", "uses URLs as cursors", paging{form: linkCursor}},
	{"late-cursor-a-position", "PAGE-CURSOR-VALUE", "uses positions as cursors later in the list", paging{form: late(uuidCursor, numberCursor)}},

	{"cursor-a-uuid", "PAGE-CURSOR-TIMESTAMP", "uses UUIDs as cursors of a timestamp-based list", paging{form: uuidCursor}},
	{"cursor-an-email", "PAGE-CURSOR-TIMESTAMP", "uses email addresses as cursors of a timestamp-based list", paging{form: emailCursor}},
	{"cursor-an-epoch", "PAGE-CURSOR-TIMESTAMP", "uses milliseconds since 1970 as cursors", paging{form: epochCursor}},
	{"cursor-a-date", "PAGE-CURSOR-TIMESTAMP", "uses dates without a time as cursors", paging{form: dateCursor}},
	{"late-cursor-a-uuid", "PAGE-CURSOR-TIMESTAMP", "uses UUIDs as cursors later in a timestamp-based list", paging{form: late(timestampCursor, uuidCursor)}},
}

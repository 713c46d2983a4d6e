package paging

import "fmt"

// At is the position of a row in a walk.
type At struct {
	Page, Item int // both count from 0
	Key        string
}

func (a At) String() string { return fmt.Sprintf("page %d, item %d", a.Page+1, a.Item) }

// Repeat is a row that one walk showed twice.
type Repeat struct {
	First, Again At
}

// Repeats returns the rows that the walk showed more than once.
func (w Walk) Repeats() []Repeat {
	var repeats []Repeat
	first := make(map[string]At, w.rows())
	w.each(func(at At, r Row) {
		if before, seen := first[r.Key]; seen {
			repeats = append(repeats, Repeat{before, at})
			return
		}
		first[r.Key] = at
	})
	return repeats
}

// each visits the rows in order.
func (w Walk) each(visit func(At, Row)) {
	for p, page := range w.Pages {
		for i, r := range page.Rows {
			visit(At{p, i, r.Key}, r)
		}
	}
}

// Missing returns the rows that walks[i] should show but does not. Both an
// earlier and a later walk of the same list show these rows, so they existed
// throughout. The walks are in chronological order.
func Missing(walks []Walk, i int) []Row {
	if i <= 0 || i >= len(walks)-1 {
		return nil
	}
	before, after := keysOf(walks[:i]), keysOf(walks[i+1:])
	here := walks[i].Keys()
	var missing []Row
	reported := map[string]bool{}
	for _, w := range walks[:i] {
		for _, r := range w.Rows() {
			if before[r.Key] && after[r.Key] && here[r.Key] == 0 && !reported[r.Key] {
				reported[r.Key] = true
				missing = append(missing, r)
			}
		}
	}
	return missing
}

func keysOf(walks []Walk) map[string]bool {
	keys := map[string]bool{}
	for _, w := range walks {
		for key := range w.Keys() {
			keys[key] = true
		}
	}
	return keys
}

// Swap is a pair of rows that two walks show in different order.
type Swap struct {
	Expected, Actual At     // positions of the two rows, in the first and in the second walk
	Want             string // key of the row that should be at Actual
}

// Disorder compares the order of the rows that both walks show, each by its first
// position. It returns the first difference.
func Disorder(a, b Walk) (Swap, bool) {
	inB := b.Keys()
	inA := a.Keys()
	commonA := firsts(a, inB)
	commonB := firsts(b, inA)
	for i := range commonB {
		if commonA[i].Key != commonB[i].Key {
			return Swap{Expected: commonA[i], Actual: commonB[i], Want: commonA[i].Key}, true
		}
	}
	return Swap{}, false
}

// firsts returns the first position of every row of w that the other walk also shows.
func firsts(w Walk, other map[string]int) []At {
	var places []At
	seen := make(map[string]bool, len(other))
	w.each(func(at At, r Row) {
		if other[r.Key] > 0 && !seen[r.Key] {
			seen[r.Key] = true
			places = append(places, at)
		}
	})
	return places
}

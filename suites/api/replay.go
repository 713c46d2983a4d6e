package api

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/spec"
)

// mostLeading is how many requests a command sends before the one that shows a violation.
// mostChanges is how many of them a spec remembers.
const (
	mostLeading = 4
	mostChanges = 100
)

// curl returns a command that repeats a violation of the pair: the request, after the
// changes that led to its response. told is what the violation says, which may name rows.
// A comment says what the command lacks. made reports whether the run created a row.
func (r Response) curl(p spec.Pair, told string, made func(id string) bool) string {
	if judge.NeedsLimit(p.Requirement, r.Exchange) || r.repeat == nil {
		return judge.Replay(p.Requirement, r.Exchange)
	}
	before, all := r.leading(told)
	var lacks []string
	if len(before) < all || len(r.changes) == mostChanges {
		count := fmt.Sprintf("after %d changes; to send them too", all)
		if len(before) > 0 {
			count = fmt.Sprintf("%d of %d changes; to send all of them", len(before), all)
		}
		lacks = append(lacks, fmt.Sprintf("%s, with the flags of this run: outreach-conformance run --requirement %s --operation %s", count, p.Requirement, p.Operation))
	}
	for _, id := range uuids.FindAllString(told, -1) {
		if made(id) && !slices.ContainsFunc(before, func(c client.Step) bool { return strings.EqualFold(c.Made, id) }) {
			lacks = append(lacks, "the run created "+id+" and has deleted it")
			break
		}
	}
	line := r.repeat()
	if len(before) > 0 {
		line = strings.Join(client.Steps(append(before, client.Step{Exchange: r.Exchange})), "; ")
	}
	if len(lacks) > 0 {
		line += " # " + strings.Join(lacks, "; ")
	}
	return line
}

var uuids = regexp.MustCompile(`(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// leading returns the earlier changes of the spec that led to the response, mostLeading at
// most, and how many there are. They are those of the rows or accounts that the request
// names. A list may show any change. If there are too many of them, those count that bear
// on the rows that the violation names: their own, and deletions from the same list.
func (r Response) leading(told string) (steps []client.Step, all int) {
	changes := r.withoutRetries()
	names := r.subjects()
	if len(names) == 0 {
		if r.Exchange.Changes() {
			return nil, 0
		}
		if len(changes) <= mostLeading {
			return changes, len(changes)
		}
		all = len(changes)
		for _, c := range changes {
			id, deletes := strings.CutPrefix(c.Request.Path, r.Exchange.Request.Path+"/")
			if deletes = deletes && c.Request.Method == http.MethodDelete; deletes {
				names = append(names, id)
			}
			if c.Made != "" && strings.Contains(told, c.Made) {
				names = append(names, c.Made)
			}
		}
	}
	for _, c := range changes {
		if c.Made != "" && r.Exchange.Names(c.Made) {
			names = append(names, c.Made)
		}
	}
	for _, c := range changes {
		if slices.ContainsFunc(names, func(name string) bool { return c.Made == name || c.Names(name) }) {
			steps = append(steps, c)
		}
	}
	if r.Call.Operation.ID == spec.MoveAccounts {
		steps = withoutRounds(steps)
	}
	all = max(all, len(steps))
	if len(steps) > mostLeading {
		steps = nil
	}
	return steps, all
}

// withoutRounds returns the moves without those between two equal ones: the accounts are
// where the first one brought them.
func withoutRounds(moves []client.Step) []client.Step {
	var kept []client.Step
	for _, m := range moves {
		if i := slices.IndexFunc(kept, func(k client.Step) bool { return k.Status == http.StatusOK && k.Curl() == m.Curl() }); i >= 0 && m.Status == http.StatusOK {
			kept = kept[:i+1]
			continue
		}
		kept = append(kept, m)
	}
	return kept
}

// subjects returns the row in the path of the request, or the accounts that it moves.
func (r Response) subjects() (names []string) {
	if r.Call.ID != "" {
		names = append(names, r.Call.ID)
	}
	if r.Call.Operation.ID == spec.MoveAccounts {
		emails, _ := Normalize(r.Call.Members()["emails"]).([]any)
		for _, email := range emails {
			if text, ok := email.(string); ok && text != "" {
				names = append(names, text)
			}
		}
	}
	return names
}

// withoutRetries returns the changes before the response, without those that were refused
// and sent again at once: an earlier change may take a moment to show.
func (r Response) withoutRetries() []client.Step {
	var kept []client.Step
	for i, c := range r.changes {
		next := r.Exchange
		if i+1 < len(r.changes) {
			next = r.changes[i+1].Exchange
		}
		if c.Status/100 == 4 && c.Limit == nil && c.Curl() == next.Curl() {
			continue
		}
		kept = append(kept, c)
	}
	return kept
}

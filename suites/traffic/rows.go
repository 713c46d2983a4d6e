package traffic

import (
	"bytes"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/api"
)

// history is what the exchanges of a segment ask and show of one row, in the order of time.
type history struct {
	created []*exchange
	deleted []*exchange // such a request may have had its effect whatever its response is
	named   []*exchange // by a request, also by those that delete it
	seen    []sighting
}

// sighting is a row in the response to a request that changes nothing.
type sighting struct {
	*exchange
	item int
}

func (s sighting) row() paging.Row { return s.rows[s.item] }

// alone returns the response as if it showed this row alone.
func (s sighting) alone() api.Response {
	view := s.Response
	view.Items, view.Call.Operation.Answer = []map[string]any{s.row().Value}, spec.One
	return view
}

// histories are those of the rows that a segment creates or names, by their keys.
type histories map[string]*history

func (j *Judge) histories() histories {
	all := histories{}
	of := func(id string) *history {
		key := paging.FoldID(id)
		if all[key] == nil {
			all[key] = &history{}
		}
		return all[key]
	}
	for _, x := range j.segment {
		if x.op().ID == spec.CreatePlacementTest && x.OK() {
			h := of(x.ID())
			h.created = append(h.created, x)
		}
		for _, n := range x.op().Names {
			h := of(x.named(n.Field))
			h.named = append(h.named, x)
			if x.op().Deletes() {
				h.deleted = append(h.deleted, x)
			}
		}
	}
	delete(all, "") // what is named without an id
	for _, x := range j.segment {
		if !x.OK() || x.op().Unsafe() {
			continue
		}
		for i, row := range x.rows {
			if h := all[row.Key]; h != nil && row.ByID {
				h.seen = append(h.seen, sighting{x, i})
			}
		}
	}
	return all
}

// skew is how far the clocks of a target and of who records may be apart.
const skew = time.Minute

// concern reports whether the walk may lack the row because of a change: it is new, or somebody
// asked for its deletion. The specification does not say how soon a view shows a change.
func (all histories) concern(row paging.Row, w walk, visibility time.Duration) bool {
	young := w.began().Add(-visibility)
	if id, err := uuid.Parse(row.Key); err == nil && id.Version() == 7 {
		if seconds, nanoseconds := id.Time().UnixTime(); time.Unix(seconds, nanoseconds).After(young.Add(-skew)) {
			return true
		}
	}
	h := all[row.Key]
	return h != nil && (slices.ContainsFunc(h.created, func(x *exchange) bool { return x.ended.After(young) }) ||
		slices.ContainsFunc(h.deleted, func(x *exchange) bool { return x.Sent.Before(w.ended()) }))
}

// changing reports whether rows of the walk's list were created or deleted while it was under way.
func (all histories) changing(w walk) (created, deleted bool) {
	meanwhile := func(x *exchange) bool {
		return x.op().Resource == w.List.Operation.Resource && x.Status/100 == 2 && x.ended.After(w.began()) && x.Sent.Before(w.ended())
	}
	for _, h := range all {
		created = created || slices.ContainsFunc(h.created, meanwhile)
		deleted = deleted || slices.ContainsFunc(h.deleted, meanwhile)
	}
	return created, deleted
}

// judgeRows judges what several exchanges ask and show of one row.
func (j *Judge) judgeRows(walks []walk, rows histories) {
	created := 0
	for _, id := range slices.Sorted(maps.Keys(rows)) {
		h := rows[id]
		if len(h.created) > 0 {
			created++
			j.judgeCreation(h)
		}
		for _, x := range h.named {
			if x.OK() && x.op().HasPathID() {
				j.judgeView(x, h.seen)
			}
		}
		if at := slices.IndexFunc(h.deleted, func(x *exchange) bool { return x.OK() }); at >= 0 {
			j.judgeDeletion(id, h, at, walks)
		}
	}
	if created > 1 {
		j.counts(spec.StateCreateDistinct, spec.CreatePlacementTest, created)
	}
}

// judgeCreation judges that a created test has an id of its own and keeps its values.
func (j *Judge) judgeCreation(h *history) {
	made := h.created[0]
	for _, again := range h.created[1:] {
		if again.host != made.host || !again.Sent.After(made.ended) && bytes.Equal(again.Exchange.Request.Body, made.Exchange.Request.Body) && bytes.Equal(again.Exchange.Body, made.Exchange.Body) {
			continue // the exchange was recorded twice, such as on both sides of a proxy
		}
		j.charge(spec.StateCreateDistinct, made.op().ID, again, "/id", "an id of its own", "that of "+made.String())
	}
	shown := slices.Clone(h.seen)
	for _, x := range h.deleted {
		if x.OK() && len(x.rows) == 1 {
			shown = append(shown, sighting{x, 0})
		}
	}
	const most = 3 // views by each operation
	views := map[string]int{}
	for _, s := range h.seen {
		deleted := len(h.deleted) > 0 && s.ended.After(h.deleted[0].Sent)
		if s.host != made.host || s.Sent.Before(made.ended) || deleted || views[s.op().ID] == most {
			continue
		}
		views[s.op().ID]++
		later := slices.DeleteFunc(slices.Clone(shown), func(other sighting) bool {
			return other.host != s.host || other.Sent.Before(s.ended.Add(j.settling()))
		})
		j.judgeCreated(made, s.alone(), later)
	}
}

// settling is how long a view may show a row as it was before the last edit.
func (j *Judge) settling() time.Duration {
	if j.edits {
		return j.profile.Visibility()
	}
	return 0
}

// judgeView compares a get, or the response to a deletion, with the view before and after it. Another
// client may have changed the row: only what both show alike is judged, and what no client can change.
func (j *Judge) judgeView(x *exchange, seen []sighting) {
	var before, after []sighting // one at most
	for _, s := range seen {
		switch {
		case s.host != x.host || s.doubt || x.doubt || s.op().Answer == spec.One && !x.op().Deletes():
		case !s.ended.After(x.Sent):
			before = []sighting{s}
		case !s.Sent.Before(x.ended.Add(j.settling())) && after == nil:
			after = []sighting{s}
		}
	}
	views := append(before, after...)
	if views == nil {
		return
	}
	row := maps.Clone(views[0].row().Value)
	maps.DeleteFunc(row, func(field string, value any) bool {
		if len(views) == 1 {
			return !slices.Contains(spec.CreateReadOnly, field)
		}
		return !api.Fits(api.EqualJSON(value), views[1].row().Value[field])
	})
	found := verdictOf(api.AgreeWithRow(row, api.ChangesAtItsEnd...), x.Response)
	if len(views) > 1 || len(found.Findings) > 0 { // else the view says too little to confirm it
		j.enterVerdict(spec.StateGetList, x.op().ID, found)
		j.enterVerdict(spec.StateDeleteAnswer, x.op().ID, found)
	}
}

// afterDeletion says which requirement a later request breaks that names a deleted row, by its operation,
// and what is right.
var afterDeletion = map[string]struct {
	id    spec.ID
	right client.Allowed
}{
	spec.GetPlacementTest:    {spec.StateDeleteGet, client.Only(http.StatusNotFound)},
	spec.DeletePlacementTest: {spec.StateDeleteAgain, client.Only(http.StatusNotFound)},
	spec.DeleteSubsequence:   {spec.StateDeleteAgain, client.Only(http.StatusNotFound)},
	spec.MoveLead:            {spec.StateDeleteMove, client.AnyRefusal()},
}

// judgeDeletion judges what later exchanges show of a deleted row, and how they are refused that name it.
func (j *Judge) judgeDeletion(id string, h *history, at int, walks []walk) {
	deleted, again := h.deleted[at], h.deleted[at+1:]
	op, by := deleted.op(), ": "+deleted.String()+" deleted it"
	later := func(x *exchange) bool {
		return x.host == deleted.host && !x.Sent.Before(deleted.ended.Add(j.profile.Visibility()))
	}
	gone := slices.DeleteFunc(slices.Clone(walks), func(w walk) bool {
		return !w.whole || len(w.filters()) > 0 || w.first().host != deleted.host || w.List.Operation.Resource != op.Resource || w.began().Before(deleted.ended) || w.shows(id)
	})
	j.counts(spec.StateDeleteList, op.ID, len(gone))
	for _, s := range h.seen {
		restored := len(again) > 0 && !again[0].ended.After(s.Sent) && slices.ContainsFunc(gone, func(w walk) bool { return w.ended().Before(s.Sent) })
		switch {
		case later(s.exchange) && restored:
			j.charge(spec.StateDeleteAgain, op.ID, s.exchange, s.op().RowPointer(s.item), "a row that stays deleted", "the row shows again after "+again[0].String())
		case later(s.exchange) && s.op().Answer != spec.One:
			j.charge(spec.StateDeleteList, op.ID, s.exchange, s.op().RowPointer(s.item), "no such row"+by, "the row "+id)
		}
	}
	for _, x := range h.named {
		rule, ruled := afterDeletion[x.op().ID]
		if !ruled || !later(x) || x.key != deleted.key || len(x.violations) > 0 || x.Status == http.StatusTooManyRequests || slices.Contains(denials, x.Status) {
			continue
		}
		p := rule.id.On(op.ID)
		if own := rule.id.On(x.op().ID); spec.Has(own) {
			p = own
		}
		if !rule.right.Status(x.Status) {
			j.charge(rule.id, p.Operation, x, "status", rule.right.String()+by, x.Describe())
		} else if spec.Has(p) {
			j.ledger.Refused(p, x.Status)
		}
	}
}

// judgeDeliveries judges the attempts of each delivery, as each two walks show them.
func (j *Judge) judgeDeliveries(whole []walk) {
	for i, w := range whole {
		later := slices.IndexFunc(whole[i+1:], func(later walk) bool { return !later.began().Before(w.ended()) })
		if later < 0 {
			continue
		}
		for id, found := range api.RulesOfDeliveries(api.AttemptsOf(w.Walk), api.AttemptsOf(whole[i+1+later].Walk)) {
			j.enterVerdict(id, spec.ListWebhookEvents, found)
		}
	}
}

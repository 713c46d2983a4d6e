package traffic

import (
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/api"
	"outreach.example/conformance/suites/match"
)

// changes are the creations and deletions of a segment, by the ids of their rows. A deletion may
// have had its effect whatever its response is.
type changes struct {
	created map[string][]*exchange
	deleted map[string][]*exchange
}

func (j *Judge) changes() changes {
	c := changes{map[string][]*exchange{}, map[string][]*exchange{}}
	for _, x := range j.segment {
		switch {
		case x.op().Deletes():
			id := paging.FoldID(x.Call.ID)
			c.deleted[id] = append(c.deleted[id], x)
		case x.op().ID == spec.CreatePlacementTest && x.OK():
			id := paging.FoldID(x.ID())
			c.created[id] = append(c.created[id], x)
		}
	}
	return c
}

// skew is how far the clocks of a target and of who records may be apart.
const skew = time.Minute

// concern reports whether the walk may lack the row because of a change: it is new, or somebody
// asked for its deletion. The specification does not say how soon a view shows a change.
func (c changes) concern(row paging.Row, w walk, visibility time.Duration) bool {
	young := w.began().Add(-visibility)
	if id, err := uuid.Parse(row.Key); err == nil && id.Version() == 7 {
		seconds, nanoseconds := id.Time().UnixTime()
		if time.Unix(seconds, nanoseconds).After(young.Add(-skew)) {
			return true
		}
	}
	return slices.ContainsFunc(c.created[row.Key], func(x *exchange) bool { return x.ended.After(young) }) ||
		slices.ContainsFunc(c.deleted[row.Key], func(x *exchange) bool { return x.Sent.Before(w.ended()) })
}

// during reports whether rows of the walk's list were created or deleted while it was under way.
func (c changes) during(w walk) (created, deleted bool) {
	within := func(all map[string][]*exchange) bool {
		for _, exchanges := range all {
			for _, x := range exchanges {
				if x.op().Resource == w.List.Operation.Resource && x.Status/100 == 2 && x.ended.After(w.began()) && x.Sent.Before(w.ended()) {
					return true
				}
			}
		}
		return false
	}
	return within(c.created), within(c.deleted)
}

// sighting is a row in a response.
type sighting struct {
	*exchange
	item int
}

func (s sighting) row() map[string]any { return s.rows[s.item].Value }

// pointer returns the JSON pointer to the row.
func (s sighting) pointer() string { return s.op().RowPointer(s.item) }

// against compares the row with another view of it.
func (s sighting) against(other map[string]any, mayChange []string) api.Verdict {
	view := s.Response
	view.Items, view.Call.Operation.Answer = []map[string]any{s.row()}, spec.One
	found := judged(match.AgreeWithRow(other, mayChange...), view)
	for i := range found.Findings {
		found.Findings[i].Pointer = s.pointer() + found.Findings[i].Pointer
	}
	return found
}

// sightings returns where the rows of the ids are shown, in the order of time.
func (j *Judge) sightings(wanted func(id string) bool) map[string][]sighting {
	all := map[string][]sighting{}
	for _, x := range j.segment {
		if !x.OK() || x.op().Unsafe() {
			continue
		}
		for i, row := range x.rows {
			if row.ByID && wanted(row.Key) {
				all[row.Key] = append(all[row.Key], sighting{x, i})
			}
		}
	}
	return all
}

// judgeRows judges what several exchanges show of one row.
func (j *Judge) judgeRows(walks []walk, c changes) {
	read := map[string][]*exchange{}
	for _, x := range j.segment {
		if x.op().ID == spec.GetPlacementTest {
			id := paging.FoldID(x.Call.ID)
			read[id] = append(read[id], x)
		}
	}
	seen := j.sightings(func(id string) bool { return c.created[id] != nil || c.deleted[id] != nil || read[id] != nil })
	for id, creations := range c.created {
		j.judgeCreation(creations, seen[id], c.deleted[id])
	}
	if len(c.created) > 1 {
		j.counts(spec.StateCreateDistinct, spec.CreatePlacementTest, len(c.created))
	}
	for id, gets := range read {
		for _, get := range gets {
			if get.OK() {
				j.judgeGet(get, seen[id])
			}
		}
	}
	for id, deletions := range c.deleted {
		j.judgeDeletion(deletions, seen[id], read[id], walks)
	}
}

// judgeCreation judges that a created test has an id of its own and keeps its values.
func (j *Judge) judgeCreation(creations []*exchange, seen []sighting, deletions []*exchange) {
	made := creations[0]
	for _, again := range creations[1:] {
		j.charge(spec.StateCreateDistinct, made.op().ID, again, "/id", "an id of its own", "that of "+made.String())
	}
	const most = 3 // views by each operation
	views := map[string]int{}
	for _, s := range seen {
		if s.Sent.Before(made.ended) || views[s.op().ID] == most || len(deletions) > 0 && s.ended.After(deletions[0].Sent) || s.host != made.host {
			continue
		}
		views[s.op().ID]++
		view := s.Response
		view.Items, view.Call.Operation.Answer = []map[string]any{s.row()}, spec.One
		j.ignores(made, view)
		for field := range made.Call.Members() {
			if slices.Contains(match.ChangesAtItsEnd, field) && s.Sent.Sub(made.ended) > j.profile.Visibility() {
				continue // a server changes it by itself
			}
			j.keeps(made, field, view)
		}
	}
}

// judgeGet compares a get with the views of the row before and after it. Both must differ from it
// alike: the row may have changed on one side.
func (j *Judge) judgeGet(get *exchange, seen []sighting) {
	var before, after *sighting
	for i, s := range seen {
		switch {
		case s.op().Answer == spec.One || s.host != get.host:
		case !s.ended.After(get.Sent):
			before = &seen[i]
		case !s.Sent.Before(get.ended) && after == nil:
			after = &seen[i]
		}
	}
	var found []api.Verdict
	for _, s := range []*sighting{before, after} {
		if s != nil && !s.doubt && !get.doubt {
			found = append(found, judged(match.AgreeWithRow(s.row(), match.ChangesAtItsEnd...), get.Response))
		}
	}
	if len(found) == 0 {
		return
	}
	differs := found[0]
	differs.Findings = slices.DeleteFunc(slices.Clone(differs.Findings), func(f api.Finding) bool {
		return len(found) > 1 && !slices.ContainsFunc(found[1].Findings, func(other api.Finding) bool { return other.Pointer == f.Pointer })
	})
	j.verdict(spec.StateGetList, get.op().ID, differs)
}

// judgeDeletion judges the response to a deletion, and that its row does not show afterwards.
func (j *Judge) judgeDeletion(deletions []*exchange, seen []sighting, gets []*exchange, walks []walk) {
	at := slices.IndexFunc(deletions, func(x *exchange) bool { return x.OK() })
	if at < 0 {
		return
	}
	deleted, op := deletions[at], deletions[at].op()
	shows := deleted.ended.Add(j.profile.Visibility())
	later := func(x *exchange) bool { return x.host == deleted.host && !x.Sent.Before(shows) }
	again := deletions[at+1:]
	may := []int{http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusTooManyRequests}
	restored := func(s sighting) bool {
		return len(again) > 0 && !again[0].ended.After(s.Sent) && slices.ContainsFunc(walks, func(w walk) bool {
			return w.whole && len(w.filters()) == 0 && w.List.Operation.Resource == op.Resource && w.began().After(deleted.ended) && w.ended().Before(s.Sent) && !w.shows(deleted.Call.ID)
		})
	}
	var before *sighting
	for i, s := range seen {
		switch {
		case s.host == deleted.host && !s.ended.After(deleted.Sent) && !s.doubt:
			before = &seen[i]
		case later(s.exchange) && restored(s):
			j.charge(spec.StateDeleteAgain, op.ID, s.exchange, s.pointer(), "a resource that stays deleted", "the resource shows again after "+again[0].String())
		case later(s.exchange) && s.op().Answer == spec.One:
			j.charge(spec.StateDeleteGet, op.ID, s.exchange, "status", "404: "+deleted.String()+" deleted the resource", "200")
		case later(s.exchange):
			j.charge(spec.StateDeleteList, op.ID, s.exchange, s.pointer(), "no row that "+deleted.String()+" has deleted", "the row "+s.rows[s.item].Key)
		}
	}
	if before != nil && !deleted.doubt {
		j.verdict(spec.StateDeleteAnswer, op.ID, judged(match.AgreeWithRow(before.row(), match.ChangesAtItsEnd...), deleted.Response))
	}
	for _, get := range gets {
		switch {
		case !later(get) || len(get.violations) > 0 || slices.Contains(may, get.Status) || get.key != deleted.key:
		case get.Status == http.StatusNotFound:
			j.counts(spec.StateDeleteGet, op.ID, 1)
		case get.Status != http.StatusOK:
			j.charge(spec.StateDeleteGet, op.ID, get, "status", "404: "+deleted.String()+" deleted the resource", get.Describe())
		}
	}
	for _, w := range walks {
		if w.whole && w.List.Operation.Resource == op.Resource && later(w.first()) && !w.shows(deleted.Call.ID) {
			j.counts(spec.StateDeleteList, op.ID, 1)
		}
	}
	for _, again := range again {
		switch {
		case !later(again) || again.key != deleted.key || len(again.violations) > 0 || slices.Contains(may, again.Status):
		case again.Status == http.StatusNotFound:
			j.counts(spec.StateDeleteAgain, op.ID, 1)
		default:
			j.charge(spec.StateDeleteAgain, op.ID, again, "status", "404: "+deleted.String()+" deleted the resource", again.Describe())
		}
	}
	for _, x := range j.segment {
		to, _ := x.Call.Members()["subsequence_id"].(string)
		if x.op().ID == spec.MoveLead && later(x) && paging.FoldID(to) == paging.FoldID(deleted.Call.ID) {
			if x.Status/100 != 4 {
				j.charge(spec.StateDeleteMove, x.op().ID, x, "status", "a refusal: "+deleted.String()+" deleted the subsequence", x.Describe())
			} else if x.Status != http.StatusTooManyRequests {
				j.ledger.Refused(spec.StateDeleteMove.On(x.op().ID), x.Status)
			}
		}
	}
}

// shows reports whether the walk shows the row.
func (w walk) shows(id string) bool {
	return slices.ContainsFunc(w.Rows(), func(r paging.Row) bool { return r.Key == paging.FoldID(id) })
}

// judgeDeliveries judges the attempts of each delivery, as each two walks show them.
func (j *Judge) judgeDeliveries(whole []walk) {
	for i, w := range whole {
		for _, later := range whole[i+1:] {
			if later.began().Before(w.ended()) {
				continue
			}
			for id, found := range match.RulesOfDeliveries(match.AttemptsOf(w.Walk), match.AttemptsOf(later.Walk)) {
				j.verdict(id, spec.ListWebhookEvents, found)
			}
			break
		}
	}
}

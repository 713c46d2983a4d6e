package suites

import (
	"slices"
	"time"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// lasting are the fields of a resource that a server does not change by itself. A status, a
// time of use, a counter or an enrichment may change at any time. A tag or a campaign that
// somebody deletes may disappear from a row.
var lasting = map[string][]string{
	"InboxPlacementTest": {"name", "type", "sending_method", "email_subject", "email_body", "emails", "timestamp_created", "organization_id",
		"delivery_mode", "description", "schedule", "test_code", "text_only"},
	"Subsequence": {"name", "timestamp_created", "parent_campaign", "workspace", "conditions", "subsequence_schedule", "sequences",
		"daily_limit_mode", "daily_limit", "ignore_account_daily_limit"},
	"Campaign": {"name", "timestamp_created", "pl_value", "is_evergreen", "campaign_schedule"},
	"Lead":     {"timestamp_created", "organization", "email", "first_name", "last_name"},
}

// changedLasting returns the lasting fields of a resource that a later view shows otherwise.
func changedLasting(r Response, pointer string, before, now map[string]any) []Finding {
	resource := r.Call.Operation.Resource
	before, now = spec.Documented(resource, before), spec.Documented(resource, now)
	var found []Finding
	for _, field := range lasting[resource] {
		if value := before[field]; value != nil && !schemas.Agree(Normalize(value), Normalize(now[field])) {
			found = append(found, Found(r, pointer+"/"+field, "as before the change: "+ClipJSON(value), schemas.Member(now, field, Readable)))
		}
	}
	return found
}

// changedRows returns the lasting fields of the rows with these ids, or of all rows if there
// are none, that a later walk shows otherwise. Walks that break the shapes say nothing.
func changedRows(before, after Walk, ids ...string) []Finding {
	if before.IsDoubtful() || after.IsDoubtful() {
		return nil
	}
	earlier := before.ByKey()
	var found []Finding
	for p, page := range after.Pages {
		for i, row := range page.Rows {
			if was := earlier[row.Key]; row.ByID && was != nil && (len(ids) == 0 || slices.ContainsFunc(ids, func(id string) bool { return paging.FoldID(id) == row.Key })) {
				found = append(found, changedLasting(after.At(p), PointerIn(i), was, row.Value)...)
			}
		}
	}
	return found
}

// alteredRows is changedRows for all rows. Rows that a later walk leaves out count, too.
func alteredRows(api *API, before, after Walk) []Finding {
	return append(changedRows(before, after), goneRows(api, before, after)...)
}

// goneRows returns the rows that a later walk leaves out, without those that the run deleted
// and those that mention such a row: a server may delete them with it.
func goneRows(api *API, before, after Walk) (found []Finding) {
	if !before.Complete() || !after.Complete() {
		return nil
	}
	deleted := func(text string) bool {
		_, deleted := api.Sandbox().Changed(text)
		return deleted
	}
	shown := after.Keys()
	for _, row := range before.Rows() {
		if shown[row.Key] == 0 && !deleted(row.Key) && !mentions(row.Value, deleted) {
			found = append(found, Found(after.Last(), "", "the row "+Shorten(row.Key)+", as before the change", "no page shows it"))
		}
	}
	return found
}

// mentions reports whether a text in the JSON value fits.
func mentions(value any, fits func(string) bool) bool {
	switch value := value.(type) {
	case string:
		return fits(value)
	case []any:
		return slices.ContainsFunc(value, func(item any) bool { return mentions(item, fits) })
	case map[string]any:
		for _, member := range value {
			if mentions(member, fits) {
				return true
			}
		}
	}
	return false
}

// expectOthersKept judges that a change left the other rows as they were. again makes
// another change like it and returns a walk afterwards. A difference counts only if each of
// two such changes makes one, too, and if the rows stay as they are after each: others may
// change rows meanwhile.
func expectOthersKept(api *API, id spec.ID, before, after Walk, again func() Walk) {
	if api.Profile.Stateless { // its lists are examples
		return
	}
	found := alteredRows(api, before, after)
	for round := 0; round < 2 && len(found) > 0; round++ {
		Alone(api, func() {
			now, from := api.Walk(after.List, PagesOf(spec.MaxLimit)), client.Now(api.Ctx)
			if len(alteredRows(api, now, again())) == 0 || !staysSame(api, client.Now(api.Ctx).Sub(from), after.List) {
				found = nil
			}
		})
	}
	api.For(id).Judge(Comparison(found...))
}

// staysSame reports whether the rows of lists stay as they are while the run leaves them
// alone. It looks several times, and for several times as long as the suspected change took.
func staysSame(api *API, change time.Duration, lists ...Call) bool {
	const times, pause = 6, 20 * time.Millisecond
	until := client.Now(api.Ctx).Add(times * min(change, time.Second))
	before := lookAt(api, lists)
	for looks := 0; looks < times || client.Now(api.Ctx).Before(until); looks++ {
		if client.Sleep(api.Ctx, pause) != nil {
			return false
		}
		now := lookAt(api, lists)
		for i := range lists {
			if len(alteredRows(api, before[i], now[i])) > 0 {
				return false
			}
		}
		before = now
	}
	return true
}

// expectSameAgain changes resources again and compares the responses with earlier ones.
// Meanwhile the run has changed other resources. A difference counts if there is a second
// one, in another resource or after another change: somebody may have edited one resource.
func expectSameAgain(api *API, id spec.ID, earlier []Response, again func(earlier Response, round int) Call) {
	if api.Profile.Stateless {
		return
	}
	var differing [][]Finding // one item for each response
	for round := 0; round == 0 || round == 1 && len(differing) == 1; round++ {
		for i, before := range earlier {
			now := api.Do(again(before, round))
			if changed := changedLasting(now, "", before.Row(), now.Row()); len(changed) > 0 {
				differing = append(differing, changed)
			}
			earlier[i] = now
		}
	}
	if len(differing) > 1 {
		api.For(id).Judge(Comparison(slices.Concat(differing...)...))
	}
}

// fromBothEnds returns the younger half of some ids from its end, and the older half from its
// start. A change that damages the next id, or the one before, damages one whose response the
// run has already seen.
func fromBothEnds(ids []string) [][]string {
	half := len(ids) / 2
	younger := slices.Clone(ids[half:])
	slices.Reverse(younger)
	return [][]string{younger, ids[:half]}
}

// firstOfEach returns the first responses of each half.
func firstOfEach(halves [][]Response) (first []Response) {
	for _, half := range halves {
		first = append(first, half[:min(handful, len(half))]...)
	}
	return first
}

package api

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/spec"
)

// RulesOfDeliveries judges the rules between the attempts of a delivery, as two reads of the
// list show them one after the other.
func RulesOfDeliveries(earlier, later Attempts) map[spec.ID]Verdict {
	rules := map[spec.ID]Verdict{
		spec.EventGroupCount: retriesCounted(earlier.failed()),
		spec.EventRetryTrue:  successesClaimed(earlier, later),
		spec.EventRetryFalse: successesDenied(earlier, later),
	}
	for id, found := range rules {
		if found.Assessed == 0 {
			found.Missing = "webhook events with a retry that succeeded"
			if id == spec.EventGroupCount {
				found.Missing = "webhook events with retries that failed"
			}
			rules[id] = found
		}
	}
	return rules
}

// attempt is one row of the list, its place, and what the rules look at.
type attempt struct {
	response Response
	pointer  string
	id       string
	group    string
	at       time.Time
	row      map[string]any
}

// Attempts are the rows of a walk, and the deliveries that they belong to, each
// in order of time.
type Attempts struct {
	rows       []attempt
	deliveries map[string][]attempt
}

// AttemptsOf returns the rows that say when they were made and for which
// delivery. The schemas judge the others.
func AttemptsOf(w Walk) Attempts {
	all := Attempts{deliveries: map[string][]attempt{}}
	for p, page := range w.Pages {
		for i, row := range page.Rows {
			group, ok := row.Value["retry_group_id"].(string)
			at, err := time.Parse(time.RFC3339Nano, oracle.Scalar(row.Value["timestamp_created"]))
			if ok && err == nil {
				a := attempt{w.At(p), PointerIn(i), row.Key, group, at, row.Value}
				all.rows = append(all.rows, a)
				all.deliveries[group] = append(all.deliveries[group], a)
			}
		}
	}
	for _, delivery := range all.deliveries {
		slices.SortStableFunc(delivery, func(a, b attempt) int { return a.at.Compare(b.at) })
	}
	return all
}

// failed returns the attempts that failed, which rule 2 of the section Events is about.
func (a Attempts) failed() Attempts {
	only := func(attempts []attempt) []attempt {
		return slices.DeleteFunc(slices.Clone(attempts), func(one attempt) bool { return one.row["success"] != false })
	}
	failed := Attempts{only(a.rows), map[string][]attempt{}}
	for group, delivery := range a.deliveries {
		failed.deliveries[group] = only(delivery)
	}
	return failed
}

// inTurn visits the attempts of each delivery that follow another one.
func (a Attempts) inTurn(visit func(before, next attempt)) {
	for _, id := range slices.Sorted(maps.Keys(a.deliveries)) {
		delivery := a.deliveries[id]
		for i := 1; i < len(delivery); i++ {
			visit(delivery[i-1], delivery[i])
		}
	}
}

// ObserveAddresses records whether deliveries keep their URL.
func (a Attempts) ObserveAddresses(api *API) {
	a.inTurn(func(before, next attempt) {
		seen := "one URL"
		if oracle.Scalar(before.row["webhook_url"]) != oracle.Scalar(next.row["webhook_url"]) {
			seen = "several URLs"
		}
		api.Observe(spec.OpenPointRetryURL, "%s", seen)
	})
}

// retriesCounted judges of failed attempts that retry_count never falls in a delivery, and does not stay below the
// number of its retries. A server may show the total in each attempt.
func retriesCounted(all Attempts) (found Verdict) {
	all.inTurn(func(before, next attempt) {
		count, okCount := number(next.row["retry_count"])
		previous, okPrevious := number(before.row["retry_count"])
		if !okCount || !okPrevious || !next.at.After(before.at) {
			return
		}
		found.Assessed++
		if count < previous {
			found.Add(next.finding("retry_count", fmt.Sprintf("at least %v, the count of the earlier attempt %s", previous, before.id), fmt.Sprint(count)))
		}
	})
	for _, group := range slices.Sorted(maps.Keys(all.deliveries)) {
		var counts []float64
		var last attempt
		for _, a := range all.deliveries[group] {
			if count, ok := number(a.row["retry_count"]); ok && a.at.After(last.at) {
				counts, last = append(counts, count), a
			}
		}
		if retries := len(counts) - 1; retries > 0 && slices.Min(counts) == slices.Max(counts) && counts[0] < float64(retries) {
			found.Add(last.finding("retry_count", fmt.Sprintf("a count of %d retries", retries), fmt.Sprintf("%v, as in each attempt of the group", counts[0])))
		}
	}
	return found
}

// successesClaimed judges that retry_successful of a failed attempt is true only if a later attempt of the delivery
// succeeded. That attempt may be added while the list is read: a later read shows it.
func successesClaimed(earlier, later Attempts) (found Verdict) {
	for _, a := range earlier.failed().rows {
		if a.row["retry_successful"] != true {
			continue
		}
		found.Assessed++
		if !succeededAfter(earlier.deliveries[a.group], a) && !succeededAfter(later.deliveries[a.group], a) {
			found.Add(a.finding("retry_successful", "true only with a later attempt of the group that succeeded", "true, and no later attempt of "+a.group+" succeeded"))
		}
	}
	return found
}

// successesDenied judges that retry_successful is not false if an earlier read has shown a later
// attempt of the delivery that succeeded.
func successesDenied(earlier, later Attempts) (found Verdict) {
	for _, a := range later.failed().rows {
		said, says := a.row["retry_successful"].(bool)
		if !says || !succeededAfter(earlier.deliveries[a.group], a) {
			continue
		}
		found.Assessed++
		if !said {
			found.Add(a.finding("retry_successful", "not false, since a later attempt of "+a.group+" succeeded", "false"))
		}
	}
	return found
}

// finding returns a finding on a field of the attempt.
func (a attempt) finding(field, expected, actual string) Finding {
	return Found(a.response, a.pointer+"/"+field, expected, actual)
}

func succeededAfter(delivery []attempt, a attempt) bool {
	return slices.ContainsFunc(delivery, func(later attempt) bool {
		return later.row["success"] == true && later.id != a.id && !later.at.Before(a.at)
	})
}

// number reads a JSON number.
func number(value any) (float64, bool) {
	n, ok := value.(interface{ Float64() (float64, error) })
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}

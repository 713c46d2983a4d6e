package suites

import (
	"fmt"
	"maps"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"

	. "outreach.example/conformance/suites/match"
)

// webhookEvents judges the rules between the attempts of one delivery (section
// Events). The rules on a single attempt are judged on every row.
func webhookEvents() {
	Describe(spec.ListWebhookEvents, func() {
		It("keeps the attempts of a delivery consistent", Requires(spec.EventGroupCount, spec.EventRetryTrue, spec.EventRetryFalse), func(api *API) {
			for _, role := range []string{dataset.Main, dataset.Second} {
				if role != dataset.Main && !api.Has(FullKey(role)) {
					continue
				}
				list := api.As(role, spec.ListWebhookEvents)
				var first Walk
				var rules map[spec.ID]expectedOf
				api.Eventually(func() bool { // others may add a row, and remove it again
					first = api.Read(list)
					rules = rulesOfDeliveries(first, api.Read(list))
					return hold(rules)
				}).Should(gomega.BeTrue())
				for id, expected := range rules {
					api.For(id).Expect(expected.attempts).To(expected.matcher)
				}
				attemptsOf(first).observeAddresses(api)
			}
		})
	})
}

// expectedOf are attempts that a matcher must match.
type expectedOf struct {
	attempts attempts
	matcher  types.GomegaMatcher
}

// rulesOfDeliveries are the rules between the attempts of a delivery, which two walks of
// the list put to the test.
func rulesOfDeliveries(first, second Walk) map[spec.ID]expectedOf {
	earlier, later := attemptsOf(first), attemptsOf(second)
	return map[spec.ID]expectedOf{
		spec.EventGroupCount: {earlier, CountRetriesUp()},
		spec.EventRetryTrue:  {earlier, SucceedLaterWhereItSaysSo(later)},
		spec.EventRetryFalse: {later, NotDenyASuccessOf(earlier)},
	}
}

// hold reports whether the attempts satisfy the rules.
func hold(rules map[spec.ID]expectedOf) bool {
	for _, expected := range rules {
		if fits, err := expected.matcher.Match(expected.attempts); err != nil || !fits {
			return false
		}
	}
	return true
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

// attempts are the rows of a walk, and the deliveries that they belong to, each
// in order of time.
type attempts struct {
	rows       []attempt
	deliveries map[string][]attempt
}

// attemptsOf returns the rows that say when they were made and for which
// delivery. The schemas judge the others.
func attemptsOf(w Walk) attempts {
	all := attempts{deliveries: map[string][]attempt{}}
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

// onAttempts makes a matcher of attempts. missing is what would have put the rule
// to the test.
func onAttempts(words, missing string, judge func(attempts) Verdict) types.GomegaMatcher {
	return &Expectation[attempts]{Words: words, Judge: func(a attempts) Verdict {
		found := judge(a)
		if found.Assessed == 0 {
			found.Missing = missing
		}
		return found
	}}
}

// What the rules between attempts need.
const (
	withRetries = "webhook events with retries"
	withSuccess = "webhook events with a retry that succeeded"
)

// inTurn visits the attempts of each delivery that follow another one.
func (a attempts) inTurn(visit func(before, next attempt)) {
	for _, id := range slices.Sorted(maps.Keys(a.deliveries)) {
		delivery := a.deliveries[id]
		for i := 1; i < len(delivery); i++ {
			visit(delivery[i-1], delivery[i])
		}
	}
}

// observeAddresses records whether deliveries keep their URL.
func (a attempts) observeAddresses(api *API) {
	a.inTurn(func(before, next attempt) {
		seen := "one URL"
		if oracle.Scalar(before.row["webhook_url"]) != oracle.Scalar(next.row["webhook_url"]) {
			seen = "several URLs"
		}
		api.Observe(spec.OpenPointRetryURL, "%s", seen)
	})
}

// CountRetriesUp matches attempts whose retry_count never falls in a delivery, and does not
// stay below the number of its retries. A server may show the total in each attempt.
func CountRetriesUp() types.GomegaMatcher {
	return onAttempts("count up retry_count in a delivery", withRetries, func(all attempts) (found Verdict) {
		all.inTurn(func(before, next attempt) {
			count, okCount := number(next.row["retry_count"])
			previous, okPrevious := number(before.row["retry_count"])
			if !okCount || !okPrevious || !next.at.After(before.at) {
				return
			}
			found.Assessed++
			if count < previous {
				found.Findings = append(found.Findings, Found(next.response, next.pointer+"/retry_count",
					fmt.Sprintf("at least %v, the count of the earlier attempt %s", previous, before.id), fmt.Sprint(count)))
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
				found.Add(Found(last.response, last.pointer+"/retry_count", fmt.Sprintf("a count of %d retries", retries),
					fmt.Sprintf("%v, as in each attempt of the group", counts[0])))
			}
		}
		return found
	})
}

// SucceedLaterWhereItSaysSo matches attempts whose retry_successful is true only
// if a later attempt of the delivery succeeded, in this walk or in another one:
// attempts may be added while the list is walked.
func SucceedLaterWhereItSaysSo(other attempts) types.GomegaMatcher {
	return onAttempts("set retry_successful only if a retry succeeded", withSuccess, func(all attempts) (found Verdict) {
		for _, a := range all.rows {
			if a.row["retry_successful"] != true {
				continue
			}
			found.Assessed++
			if !succeededAfter(all.deliveries[a.group], a) && !succeededAfter(other.deliveries[a.group], a) {
				found.Findings = append(found.Findings, Found(a.response, a.pointer+"/retry_successful",
					"true only with a later attempt of the group that succeeded", "true, and no later attempt of "+a.group+" succeeded"))
			}
		}
		return found
	})
}

// NotDenyASuccessOf matches attempts whose retry_successful is not false if an
// earlier walk has shown a later attempt of the delivery that succeeded.
func NotDenyASuccessOf(earlier attempts) types.GomegaMatcher {
	return onAttempts("not deny that a retry succeeded", withSuccess, func(all attempts) (found Verdict) {
		for _, a := range all.rows {
			said, says := a.row["retry_successful"].(bool)
			if a.row["success"] != false || !says || !succeededAfter(earlier.deliveries[a.group], a) {
				continue
			}
			found.Assessed++
			if !said {
				found.Findings = append(found.Findings, Found(a.response, a.pointer+"/retry_successful",
					"not false, since a later attempt of "+a.group+" succeeded", "false"))
			}
		}
		return found
	})
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

package suites

import (
	"fmt"
	"slices"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/spec"
)

// webhookEvents judges the rules between the attempts of one delivery (section
// Events). Rules on a single attempt are judged on every row, by package judge.
func webhookEvents() []Spec {
	op := spec.MustOperation(spec.ListWebhookEvents)
	pairs := on(op, "EVENT-GROUP-URL", "EVENT-GROUP-COUNT", "EVENT-RETRY-TRUE", "EVENT-RETRY-FALSE")
	return []Spec{{op.ID, "keeps the attempts of a delivery consistent", pairs, func(c *check) {
		list := c.as(dataset.Main, op)
		first, second := attemptsOf(c.walk(list, pagesOf(maxLimit))), attemptsOf(c.walk(list, pagesOf(maxLimit)))
		groups := groupAttempts(first)
		c.groupsAgree(groups)
		c.retrySuccessful(first, second, groups, groupAttempts(second))
		for _, p := range pairs {
			if !c.judged[p] {
				c.missing(p.Requirement, op.ID, "webhook events with retries")
			}
		}
	}}}
}

// attempt is one row of the list with its place and what the rules look at.
type attempt struct {
	answer  answer
	pointer string
	id      string
	group   string
	at      time.Time
	row     map[string]any
}

// attemptsOf returns the rows that say when they were made and for which
// delivery; the schemas have found the others.
func attemptsOf(j journey) []attempt {
	var all []attempt
	for p, page := range j.Pages {
		for i, row := range page.Rows {
			group, ok := row.Value["retry_group_id"].(string)
			at, err := time.Parse(time.RFC3339Nano, scalar(row.Value["timestamp_created"]))
			if ok && err == nil {
				all = append(all, attempt{j.at(p), pointerIn(i), row.Key, group, at, row.Value})
			}
		}
	}
	return all
}

// groupAttempts puts the attempts of each delivery in order of time.
func groupAttempts(attempts []attempt) map[string][]attempt {
	groups := map[string][]attempt{}
	for _, a := range attempts {
		groups[a.group] = append(groups[a.group], a)
	}
	for _, group := range groups {
		slices.SortStableFunc(group, func(a, b attempt) int { return a.at.Compare(b.at) })
	}
	return groups
}

// groupsAgree: one address a delivery, and a count of retries that never falls.
func (c *check) groupsAgree(groups map[string][]attempt) {
	for _, group := range groups {
		for i := 1; i < len(group); i++ {
			before, a := group[i-1], group[i]
			c.assess("EVENT-GROUP-URL", spec.ListWebhookEvents)
			if u, v := scalar(before.row["webhook_url"]), scalar(a.row["webhook_url"]); u != v {
				c.violate("EVENT-GROUP-URL", a.answer, a.pointer+"/webhook_url", u+", as in the group's attempt "+before.id, v)
			}
			count, okCount := number(a.row["retry_count"])
			previous, okPrevious := number(before.row["retry_count"])
			if !okCount || !okPrevious || !a.at.After(before.at) {
				continue
			}
			c.assess("EVENT-GROUP-COUNT", spec.ListWebhookEvents)
			if count < previous {
				c.violate("EVENT-GROUP-COUNT", a.answer, a.pointer+"/retry_count",
					fmt.Sprintf("at least %v, the count of the earlier attempt %s", previous, before.id), fmt.Sprint(count))
			}
		}
	}
}

// retrySuccessful judges the field in both directions. Attempts may be added
// while the list is walked, so that true is held against all that either walk
// showed, and false only against successes that the first walk had shown before
// the second read the row.
func (c *check) retrySuccessful(first, second []attempt, firstGroups, secondGroups map[string][]attempt) {
	for _, a := range first {
		if a.row["retry_successful"] == true {
			c.assess("EVENT-RETRY-TRUE", spec.ListWebhookEvents)
			if !succeededAfter(firstGroups[a.group], a) && !succeededAfter(secondGroups[a.group], a) {
				c.violate("EVENT-RETRY-TRUE", a.answer, a.pointer+"/retry_successful",
					"true only with a later attempt of the group that succeeded", "true, and no later attempt of "+a.group+" succeeded")
			}
		}
	}
	for _, a := range second {
		if a.row["success"] == false && succeededAfter(firstGroups[a.group], a) {
			if _, says := a.row["retry_successful"].(bool); !says {
				continue
			}
			c.assess("EVENT-RETRY-FALSE", spec.ListWebhookEvents)
			if a.row["retry_successful"] == false {
				c.violate("EVENT-RETRY-FALSE", a.answer, a.pointer+"/retry_successful",
					"not false, since a later attempt of "+a.group+" succeeded", "false")
			}
		}
	}
}

func succeededAfter(group []attempt, a attempt) bool {
	return slices.ContainsFunc(group, func(later attempt) bool {
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

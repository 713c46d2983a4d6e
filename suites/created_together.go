package suites

import (
	"maps"
	"math/bits"

	"github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// keepsValuesTogether creates tests in which each pair of fields has each pair of values: a
// server may store a value rightly alone, and wrongly beside another one.
func keepsValuesTogether(api *API) {
	api.Read(api.As(dataset.Main, spec.ListPlacementTests)) // a server may cache the list
	for _, test := range created(api, append(pairwise(api), running(api))) {
		sent := test.made.Call.Members()
		for field := range sent {
			if field != "run_immediately" && (sent["run_immediately"] != true || !changesWithRun(field)) {
				expectKept(api, test, field)
			}
		}
	}
	Alone(api, func() { expectNothingOfTheLast(api) }) // another spec may create a test in between
	TidyUp(api)
	needJudged(api, KeptFields()...)
}

// pairwise returns creations in which each pair of fields has each pair of their two
// values, in as few bodies as possible: a Hadamard matrix. A server may refuse
// one, because the specification does not say which values go together.
func pairwise(api *API) []Call {
	choices := []struct {
		field   string
		one, or any // nil leaves the field out
	}{
		{"type", 1.0, 2.0}, {"sending_method", 1.0, 2.0}, {"delivery_mode", 1.0, 2.0}, {"text_only", true, false},
		{"not_sending_status", "daily_limits_hit", "other"}, {"status", float64(Paused), 3.0},
		{field: "description"}, {field: "campaign_id"}, {field: "test_code"}, {field: "tags"}, {field: "recipients_labels"}, {field: "automations"},
	}
	for i, c := range choices {
		if c.one == nil {
			choices[i].or, _ = OptionalValue(api, c.field)
		}
	}
	var calls []Call
	for row := range 16 {
		k := api.RequestAs(dataset.Main, spec.CreatePlacementTest).MayBeRefused()
		for i, c := range choices {
			value := c.one
			if bits.OnesCount(uint(row&(i+1)))%2 == 1 {
				value = c.or
			}
			if value != nil {
				k = k.WithField(c.field, value)
			}
			if value == 2.0 && c.field == "type" { // an automated test
				k = Automated(api, k)
			}
		}
		calls = append(calls, k)
	}
	return calls
}

// running returns the creation of an automated test with all optional fields that also runs
// at once. The test is sent from outside the service.
func running(api *API) Call {
	k := WithAllOptional(api, api.RequestAs(dataset.Main, spec.CreatePlacementTest))
	return Automated(api, k).WithField("run_immediately", true).MayBeRefused()
}

// changesWithRun reports whether the run of a test may change the field.
func changesWithRun(field string) bool {
	return field == "status" || field == "not_sending_status" || field == "timestamp_next_run"
}

// expectNothingOfTheLast creates a test with all optional fields between two without any.
// The last one must show no value of the one before. A server may have defaults, which the
// first one shows: before it, a test is created with nulls, and the values differ from those
// of other specs where they can.
func expectNothingOfTheLast(api *API) {
	plain := api.RequestAs(dataset.Main, spec.CreatePlacementTest)
	full := WithAllOptional(api, plain).WithField("description", api.Word()).WithField("name", api.Word()).MayBeRefused()
	if schedule, ok := full.Members()["schedule"].(map[string]any); ok {
		schedule = maps.Clone(schedule)
		schedule["timing"] = map[string]any{"from": "03:17"}
		full = full.WithField("schedule", schedule)
	}
	if tags := api.Workspace(dataset.Main).Tags; len(tags) > 1 {
		full = full.WithField("tags", tags[len(tags)-1:])
	}
	if campaigns := api.Workspace(dataset.Main).Campaigns; len(campaigns) > 1 {
		full = full.WithField("campaign_id", campaigns[len(campaigns)-1])
	}
	empty := plain.WithField("recipients_labels", []any{}).WithField("name", api.Word()).MayBeRefused()
	for _, field := range Nullable {
		empty = empty.WithField(field, nil)
	}
	api.Do(empty)
	usual, before := api.Do(plain), api.Do(full)
	made := api.Do(plain.WithField("name", api.Word()))
	if !before.OK() {
		return
	}
	found := Find(api, made)
	for _, field := range spec.CreateOptional {
		sent, has := before.Call.Members()[field]
		if text := ClipJSON(sent); !has || field == "run_immediately" || text == "[]" || Fits(EqualJSON(sent), usual.Row()[field]) {
			continue
		}
		own := Be("not the value of the creation before", gomega.Not(EqualJSON(sent)))
		api.For(spec.StateCreate(field), spec.CreatePlacementTest).Expect(made).To(HaveMember(field, own))
		if IsMade(made, found) {
			api.For(spec.StateCreate(field), spec.GetPlacementTest).Expect(found).To(HaveMember(field, own))
		}
	}
}

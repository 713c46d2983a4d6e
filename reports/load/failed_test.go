package load_test

import (
	"reflect"
	"testing"

	"outreach.example/conformance/reports/load"
)

// The most frequent kind of failure comes first. Warm-ups do not count. A response fails
// by its status or by the cause of its truncation.
func TestHowRequestsFailed(t *testing.T) {
	s := load.Scenario{Phases: []load.Phase{
		{Warmup: true, Statuses: map[string]int64{"500": 99}},
		{Statuses: map[string]int64{"200": 50, "201": 1, "429": 7, "503": 2, "none": 9}, Failures: map[string]int64{"refused": 8, "timeout": 1}},
		{Statuses: map[string]int64{"503": 3, "302": 1, "99": 1}, Failures: map[string]int64{"reset": 1}},
	}}
	want := []load.Ending{{How: "connection refused", Count: 8}, {How: "status 503", Count: 5}, {How: "connection broken", Count: 1},
		{How: "no response in time", Count: 1}, {How: "status 302", Count: 1}, {How: "status 99", Count: 1}}
	if got := s.Failed(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

package refserver

import (
	"regexp"
	"slices"

	"outreach.example/conformance/fixtures/dataset"
)

// clockTime is HH:MM on a 24-hour clock.
var clockTime = regexp.MustCompile(`^([01][0-9]|2[0-3]):([0-5][0-9])$`)

func aClockTime(s string) (string, bool) { return s, clockTime.MatchString(s) }

// testSchedule reads the schedule of an inbox placement test. All its parts are
// asked for, since the resource shows them all.
func (o object) testSchedule(name string) *dataset.TestSchedule {
	schedule, ok := o.sub(name, optional)
	if !ok {
		return nil
	}
	timing, _ := schedule.sub("timing", required)
	return &dataset.TestSchedule{
		Days: schedule.days("days"),
		Timing: dataset.Timing{
			From: or(timing.textLike("from", required, "a time HH:MM", aClockTime)),
			To:   or(timing.textLike("to", optional, "a time HH:MM", aClockTime)),
		},
		Timezone: or(schedule.textLike("timezone", required, "a timezone of the specification's list", aTimezone)),
	}
}

// days reads the object of booleans under the keys 0 to 6, of which it needs one.
func (o object) days(name string) map[string]bool {
	days, ok := o.sub(name, required)
	if !ok {
		return nil
	}
	read := map[string]bool{}
	for key := range days.fields {
		if len(key) != 1 || key[0] < '0' || key[0] > '6' {
			o.wrong(name, "an object with keys from 0 to 6")
			return nil
		}
		read[key] = or(days.boolean(key, required))
	}
	if len(read) == 0 {
		o.wrong(name, "an object with at least one key")
	}
	return read
}

func aTimezone(s string) (string, bool) {
	_, known := slices.BinarySearch(timezones, s)
	return s, known
}

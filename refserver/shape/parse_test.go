package shape

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	got, err := Parse(" 98%:2ms, 2%:250ms,stall=2s/10s,drift=1ms/10s,capacity=800/1s,errors=0.5%:503")
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		Mix:      []Part{{9800, 2 * time.Millisecond}, {200, 250 * time.Millisecond}},
		Stall:    Stall{2 * time.Second, 10 * time.Second},
		Drift:    Drift{time.Millisecond, 10 * time.Second},
		Capacity: Capacity{800, time.Second},
		Errors:   Errors{50, 503},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	if text := got.String(); text != "98%:2ms,2%:250ms,drift=1ms/10s,stall=2s/10s,capacity=800/1s,errors=0.5%:503" {
		t.Errorf("written as %s", text)
	}
}

func TestParseRefuses(t *testing.T) {
	for text, part := range map[string]string{
		"fast":                        `"fast": unknown`,
		"98%:2ms":                     "add up to 98%, not to 100%",
		"98%:2ms,3%:1s":               "add up to 101%",
		"98%:2ms,2%":                  `"2%": unknown`,
		"98%:2,2%:1s":                 `"2" is not a duration`,
		"100%:-1s":                    "not within 0 and 1m0s",
		"100%:2m":                     "not within 0 and 1m0s",
		"101%:1s":                     `the share "101%"`,
		"0%:1s,100%:1s":               `the share "0%"`,
		"+1%:1s":                      `the share "+1%"`,
		".5%:1s":                      `the share ".5%"`,
		"1.%:1s":                      `the share "1.%"`,
		"0.001%:1s":                   `the share "0.001%"`,
		"stall=2s":                    "write two durations, e.g. 2s/10s",
		"stall=10s/10s":               "shorter than its period",
		"stall=0s/10s":                "leave it out",
		"stall=-1s/10s":               "shorter than its period",
		"stall=1s/2h":                 "at most 1h",
		"stall=1s/3s,stall=1s/3s":     "given twice",
		"drift=1ms/0.1ms":             "drift",
		"capacity=0/1s":               "write it as REQUESTS/PERIOD",
		"capacity=10":                 "write it as REQUESTS/PERIOD",
		"capacity=10/0s":              "capacity",
		"capacity=2000000/1s":         "1 to 1000000",
		"errors=1":                    `the share "1"`,
		"errors=1%:200":               "500 to 599",
		"errors=1%:x":                 `"x" is not a number`,
		"errors=1%,errors=1%":         "given twice",
		"speed=1":                     "unknown",
		",":                           "unknown",
		strings.Repeat("1%:1s,", 999): "characters are more than",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%.40q: error %v, want one with %q", text, err, part)
		}
	}
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := draw(t)
		back, err := Parse(c.String())
		if err != nil {
			t.Fatalf("%q: %v", c, err)
		}
		if !reflect.DeepEqual(back, c) {
			t.Fatalf("%q came back as %+v instead of %+v", c, back, c)
		}
	})
}

// draw draws any valid configuration.
func draw(t *rapid.T) Config {
	var c Config
	for left := Whole; left > 0 && rapid.Bool().Draw(t, "mix") || left < Whole && left > 0; {
		share := Share(rapid.IntRange(1, int(left)).Draw(t, "share"))
		if len(c.Mix) == 5 {
			share = left
		}
		c.Mix = append(c.Mix, Part{share, duration(t, 0, MaxLatency)})
		left -= share
	}
	if rapid.Bool().Draw(t, "drift") {
		c.Drift = Drift{duration(t, 1, time.Second), duration(t, minPer, MaxPeriod)}
	}
	if rapid.Bool().Draw(t, "stall") {
		c.Stall.Every = duration(t, minPer, MaxPeriod)
		c.Stall.For = duration(t, 1, min(c.Stall.Every-1, MaxLatency))
	}
	if rapid.Bool().Draw(t, "capacity") {
		c.Capacity = Capacity{rapid.IntRange(1, 2000).Draw(t, "requests"), duration(t, minPer, time.Minute)}
	}
	if rapid.Bool().Draw(t, "errors") {
		c.Errors = Errors{Share(rapid.IntRange(1, int(Whole)).Draw(t, "share of errors")), rapid.IntRange(500, 599).Draw(t, "status")}
	}
	return c
}

func duration(t *rapid.T, least, most time.Duration) time.Duration {
	return time.Duration(rapid.Int64Range(int64(least), int64(most)).Draw(t, "duration"))
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"", "98%:2ms,2%:250ms", "stall=2s/10s", "drift=1ms/10s,capacity=800/1s", "errors=0.01%:599"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(c.String())
		if err != nil || !reflect.DeepEqual(again, c) {
			t.Errorf("%q is read as %+v, written as %q and then read as %+v, %v", text, c, c, again, err)
		}
		if _, err := New(c, 1); err != nil {
			t.Errorf("%q: parsed, but cannot be used: %v", text, err)
		}
	})
}

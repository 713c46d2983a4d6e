package shape

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// maxText bounds the text of a configuration, in bytes.
const maxText = 4096

// Parse reads a configuration as String writes it: items separated by commas.
//
//	98%:2ms,2%:250ms   exactly 98 of each 100 requests take 2 ms, the others 250 ms
//	drift=1ms/10s      and 1 ms more for each 10 s since the first request
//	stall=2s/10s       the last 2 s of each 10 s nothing is answered
//	capacity=800/1s    at most 800 are served in a second, the others queue
//	errors=1%:503      exactly 1 of each 100 fails with this status; without one with 500
//
// A share has at most two decimals. The empty string does nothing.
func Parse(text string) (Config, error) {
	var c Config
	if len(text) > maxText {
		return c, fmt.Errorf("shape: %d characters are more than %d", len(text), maxText)
	}
	if strings.TrimSpace(text) == "" {
		return c, nil
	}
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		if err := c.parse(item); err != nil {
			return Config{}, fmt.Errorf("shape %q: %w", item, err)
		}
	}
	if err := c.Validate(); err != nil {
		return Config{}, fmt.Errorf("shape: %w", err)
	}
	return c, nil
}

// parse reads one item.
func (c *Config) parse(item string) (err error) {
	name, value, named := strings.Cut(item, "=")
	twice := false
	switch {
	case !named && strings.Contains(item, "%:"):
		var part Part
		share, latency, _ := strings.Cut(item, ":")
		if part.Share, err = parseShare(share); err == nil {
			part.Latency, err = parseDuration(latency)
		}
		c.Mix = append(c.Mix, part)
	case named && name == "drift":
		twice = c.Drift != (Drift{})
		c.Drift.Growth, c.Drift.Per, err = parseDurations(value, "1ms/10s")
	case named && name == "stall":
		twice = c.Stall != (Stall{})
		c.Stall.For, c.Stall.Every, err = parseDurations(value, "2s/10s")
	case named && name == "capacity":
		twice = c.Capacity != (Capacity{})
		c.Capacity, err = parseCapacity(value)
	case named && name == "errors":
		twice = c.Errors != (Errors{})
		c.Errors, err = parseErrors(value)
	default:
		return fmt.Errorf("unknown: use latencies with their shares such as 98%%:2ms,2%%:250ms, or drift=1ms/10s, stall=2s/10s, capacity=800/1s, errors=1%%")
	}
	if twice && err == nil {
		err = errTwice
	}
	return err
}

// parseShare reads a percentage with at most two decimals.
func parseShare(text string) (Share, error) {
	wrong := fmt.Errorf("the share %q is not a percentage with at most two decimals, above 0%% and at most 100%%", text)
	digits, ok := strings.CutSuffix(text, "%")
	whole, decimals, point := strings.Cut(digits, ".")
	if !ok || len(whole) > 3 || len(decimals) > 2 || (point && decimals == "") {
		return 0, wrong
	}
	n, err := strconv.ParseUint(whole+(decimals + "00")[:2], 10, 16)
	if err != nil || whole == "" || n == 0 || Share(n) > Whole {
		return 0, wrong
	}
	return Share(n), nil
}

// String writes the share as a percentage.
func (s Share) String() string {
	text := fmt.Sprintf("%d.%02d", int(s)/100, int(s)%100)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".") + "%"
}

func parseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration such as 250ms or 2s", text)
	}
	return d, nil
}

func parseDurations(text, example string) (a, b time.Duration, err error) {
	first, second, ok := strings.Cut(text, "/")
	if !ok {
		return 0, 0, fmt.Errorf("write two durations, e.g. %s", example)
	}
	if a, err = parseDuration(first); err != nil {
		return 0, 0, err
	}
	if b, err = parseDuration(second); err != nil {
		return 0, 0, err
	}
	if a == 0 || b == 0 {
		return 0, 0, fmt.Errorf("a duration of 0 does nothing: leave it out")
	}
	return a, b, nil
}

func parseCapacity(text string) (Capacity, error) {
	requests, per, ok := strings.Cut(text, "/")
	n, err := strconv.Atoi(requests)
	if !ok || err != nil || n < 1 {
		return Capacity{}, fmt.Errorf("write it as REQUESTS/PERIOD, e.g. 800/1s")
	}
	d, err := parseDuration(per)
	return Capacity{n, d}, err
}

func parseErrors(text string) (Errors, error) {
	share, status, given := strings.Cut(text, ":")
	e := Errors{Status: 500}
	var err error
	if e.Share, err = parseShare(share); err != nil {
		return Errors{}, err
	}
	if given {
		if e.Status, err = strconv.Atoi(status); err != nil {
			return Errors{}, fmt.Errorf("the status %q is not a number", status)
		}
	}
	return e, nil
}

// String writes the configuration in the form that Parse reads.
func (c Config) String() string {
	var items []string
	for _, part := range c.Mix {
		items = append(items, fmt.Sprintf("%s:%s", part.Share, part.Latency))
	}
	if c.Drift != (Drift{}) {
		items = append(items, fmt.Sprintf("drift=%s/%s", c.Drift.Growth, c.Drift.Per))
	}
	if c.Stall != (Stall{}) {
		items = append(items, fmt.Sprintf("stall=%s/%s", c.Stall.For, c.Stall.Every))
	}
	if c.Capacity != (Capacity{}) {
		items = append(items, fmt.Sprintf("capacity=%d/%s", c.Capacity.Requests, c.Capacity.Per))
	}
	if c.Errors != (Errors{}) {
		items = append(items, fmt.Sprintf("errors=%s:%d", c.Errors.Share, c.Errors.Status))
	}
	return strings.Join(items, ",")
}

package measure

import "fmt"

// consistent returns an error if counts of r contradict each other or exceed
// their bounds. Every Recording of a Recorder or of Merge passes.
func (r Recording) consistent() error {
	c := checker{}
	c.equal("requests sent", r.Sent, "send lags", r.Lag.Count())
	c.equal("requests sent", r.Sent, "responses by status", sum(&c, "responses by status", r.Statuses))
	c.add("bytes", 0, r.Bytes, maxBytes)
	var ended int64
	for _, class := range classes {
		n := r.Count(class)
		ended += n
		c.equal(string(class)+" response times", n, "service times", r.Service[class].Count())
	}
	c.equal("requests sent", r.Sent, "response times", ended)
	c.thirds(r)
	c.failures(r)
	c.statuses(r.Statuses)
	c.labels(r)
	c.series(r)
	return c.err
}

func (c *checker) thirds(r Recording) {
	accepted := r.Count(Accepted)
	most := float64(accepted) * Longest.Seconds()
	for _, t := range []Third{r.First, r.Last} {
		accepted -= c.add("requests due in a third of the phase", 0, t.Count, max(accepted, 0))
		if !(t.Took >= 0 && t.Took <= most && t.Squares >= 0 && t.Squares <= most*Longest.Seconds()) { // NaN fails too
			c.fail("response times of a third of the phase: %v s, squares of %v s²: negative or longer than any request may take", t.Took,
				t.Squares)
		}
	}
}

// checker keeps the first contradiction.
type checker struct{ err error }

func (c *checker) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

func (c *checker) equal(what string, n int64, other string, m int64) {
	if n != m {
		c.fail("%d %s, but %d %s", n, what, m, other)
	}
}

// add returns total + n, or total if the sum would leave the range 0 to most.
func (c *checker) add(what string, total, n, most int64) int64 {
	if n < 0 || n > most-total {
		c.fail("%s: %d is negative or raises the total above %d", what, n, most)
		return total
	}
	return total + n
}

func sum[K comparable](c *checker, what string, counts map[K]int64) int64 {
	var total int64
	for _, n := range counts {
		if n == 0 {
			c.fail("%s: a count of 0 must be omitted", what)
		}
		total = c.add(what, total, n, maxCount)
	}
	return total
}

// total returns the sum of counts by second.
func (c *checker) total(what string, counts []int64) int64 {
	var total int64
	for _, n := range counts {
		total = c.add(what, total, n, maxCount)
	}
	return total
}

func (c *checker) failures(r Recording) {
	for word := range r.Failures {
		if failureWord(word) != word {
			c.fail("unknown failure %q", word)
		}
	}
	if n := sum(c, "failures", r.Failures); n > r.Count(Failed) {
		c.fail("%d failures, but %d failed requests", n, r.Count(Failed))
	}
}

func (c *checker) statuses(counts map[int]int64) {
	for status := range counts {
		if status < 0 || status > maxStatus {
			c.fail("status %d: want 0 to %d", status, maxStatus)
		}
	}
}

func (c *checker) labels(r Recording) {
	total := map[Class]int64{}
	for _, l := range r.Labels {
		for class, h := range l {
			total[class] = c.add("requests by label", total[class], h.count, maxCount)
		}
	}
	for _, class := range classes {
		c.equal(string(class)+" requests", r.Count(class), "by label", total[class])
	}
}

func (c *checker) series(r Recording) {
	var asked, sent, done, bytes int64
	statuses := map[int]int64{}
	ended := map[Class]int64{}
	for _, s := range r.Series {
		asked = c.add("requests asked by interval", asked, s.Asked, maxCount)
		sent = c.add("requests sent by interval", sent, s.Sent, maxCount)
		done = c.add("requests done by interval", done, s.Done, maxCount)
		bytes = c.add("bytes by interval", bytes, s.Bytes, maxBytes)
		c.equal(fmt.Sprintf("requests done in interval %d", s.At), s.Done, "responses by status", sum(c, "responses by status", s.Statuses))
		for status, n := range s.Statuses {
			statuses[status] += n
		}
		for class, h := range s.Response {
			ended[class] = c.add("response times by interval", ended[class], h.Count(), maxCount)
		}
	}
	c.equal("requests sent", r.Sent, "by interval", sent)
	c.equal("requests sent", r.Sent, "done by interval", done)
	c.equal("bytes", r.Bytes, "by interval", bytes)
	c.equal("requests asked by second", c.total("requests asked by second", r.Asked), "by interval", asked)
	c.equal("requests sent by second", c.total("requests sent by second", r.SentIn), "by interval", sent)
	for status, n := range statuses {
		c.equal(fmt.Sprintf("answers %d by interval", status), n, "in all", r.Statuses[status])
	}
	for _, class := range classes {
		c.equal(string(class)+" requests", r.Count(class), "by interval", ended[class])
	}
}

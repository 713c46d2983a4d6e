package suites

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/spec"
)

// How a spec says of a requirement that it was put to the test, broken, or
// lacked an input.

// own returns the spec's pair for the requirement on the answer's operation,
// or, where the spec judges the requirement on its own operation only, that.
func (c *check) own(requirement, operation string) spec.Pair {
	p := spec.Pair{Requirement: requirement, Operation: operation}
	if !slices.Contains(c.spec.Pairs, p) {
		p.Operation = c.spec.Operation
	}
	if !slices.Contains(c.spec.Pairs, p) {
		panic(fmt.Sprintf("suites: %q does not declare that it judges %s", c.name(), requirement))
	}
	return p
}

// assess records that the requirement was put to the test.
func (c *check) assess(requirement, operation string) {
	p := c.own(requirement, operation)
	c.mu.Lock()
	c.judged[p] = true
	c.mu.Unlock()
	c.Ledger.Assessed(p, 1)
}

// weigh is assess for an answer that is as it has to be: a refusal counts only
// beside a valid request that is not refused alike.
func (c *check) weigh(requirement string, a answer) {
	if a.Status/100 != 4 {
		c.assess(requirement, a.call.op.ID)
		return
	}
	p := c.own(requirement, a.call.op.ID)
	c.mu.Lock()
	c.judged[p] = true
	c.mu.Unlock()
	c.Ledger.Refused(p, a.Status)
}

// missing records that the requirement could not be put to the test, and goes on.
func (c *check) missing(requirement, operation, format string, args ...any) {
	p := c.own(requirement, operation)
	c.mu.Lock()
	c.judged[p] = true
	c.mu.Unlock()
	c.Ledger.Missing(p, fmt.Sprintf(format, args...))
}

// violate records that the answer breaks the requirement.
func (c *check) violate(requirement string, a answer, pointer, expected, actual string) {
	operation := a.call.op.ID
	c.assess(requirement, operation)
	c.report(c.own(requirement, operation), a, pointer, expected, actual)
}

// expect judges the whole answer.
func (c *check) expect(requirement string, a answer, m matcher) bool {
	if !matches(requirement, m, a) {
		c.violate(requirement, a, m.pointer, m.words, describe(a))
		return false
	}
	c.weigh(requirement, a)
	return true
}

// expectAt judges a part of the answer, or a value that follows from it.
func (c *check) expectAt(requirement string, a answer, pointer string, value any, m matcher) bool {
	if !matches(requirement, m, value) {
		c.violate(requirement, a, pointer, m.words, describe(value))
		return false
	}
	c.assess(requirement, a.call.op.ID)
	return true
}

func matches(requirement string, m matcher, value any) bool {
	holds, err := m.Match(value)
	if err != nil {
		panic(fmt.Sprintf("suites: %s cannot be matched: %v", requirement, err))
	}
	return holds
}

// serves judges that the answer is a 200 with what the operation answers with. A
// 200 with another body does not tell: that it is none is charged to the
// schemas, and what it would be if it were one is open.
func (c *check) serves(requirement string, a answer) bool {
	if a.Status == http.StatusOK && !a.ok() {
		c.missing(requirement, a.call.op.ID, "%s", a.lacks())
		return false
	}
	return c.expect(requirement, a, haveStatus(http.StatusOK))
}

// describe renders what was found, bounded.
func describe(value any) string {
	if a, ok := value.(answer); ok {
		return judge.DescribeStatus(a.Exchange)
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		encoded = fmt.Append(nil, value)
	}
	return judge.Clip(string(encoded))
}

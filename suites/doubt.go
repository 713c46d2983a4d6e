package suites

import (
	"fmt"
	"slices"
	"sync"

	"outreach.example/conformance/spec"
)

// Rows of the profile that specs change and put back are where the profile says
// when the next spec begins. Where a request that changes one had no answer, or
// its way back was not confirmed, that is not so: the target may be right
// whatever it answers from then on. Such a row is in doubt, and whoever is about
// to change it is not assessed.
//
// Sending the way back and finding the row gone from there takes no doubt away:
// the request that was lost may still be under way. Only a way back that was
// taken shows where the row is.

// doubts are the rows in doubt, and why they are.
type doubts struct {
	mu  sync.Mutex
	why map[string]string
}

// presupposed returns the rows of which a call presupposes a state that another
// spec's call may have changed: accounts. What is deleted is so once, by the spec
// that it was handed to or that made it; leads and campaigns are changed alike
// from whatever state they are in.
func presupposed(k call) []string {
	if k.op.ID != spec.MoveAccounts {
		return nil
	}
	emails, _ := k.object()["emails"].([]string)
	return emails
}

// cast puts the call's rows in doubt; became says what came of the call.
func (d *doubts) cast(k call, became string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, row := range presupposed(k) {
		if d.why == nil {
			d.why = map[string]string{}
		}
		d.why[row] = became
	}
}

// settle takes away the doubts about the call's rows.
func (d *doubts) settle(k call) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, row := range presupposed(k) {
		delete(d.why, row)
	}
}

// about returns why the row is in doubt; empty if it is not.
func (d *doubts) about(row string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.why[row]
}

// any reports whether any row is in doubt.
func (d *doubts) any() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.why) > 0
}

// presuppose ends the spec if a row that the call presupposes is in doubt.
func (c *check) presuppose(k call) {
	for _, row := range presupposed(k) {
		why := c.doubts.about(row)
		if slices.Contains(c.LeftAway, row) {
			why = "an earlier run may have left it elsewhere; `outreach-conformance cleanup` puts it back"
		}
		if why != "" {
			c.lack("the account %s where the profile says that it is: %s", row, why)
		}
	}
}

// noteUnanswered puts in doubt what a call may have changed that went out and had
// no answer.
func (c *check) noteUnanswered(a answer) {
	if a.Exchange.Err == nil || a.Status != 0 || a.Sent.IsZero() {
		return
	}
	c.doubts.cast(a.call, unanswered(a.call, a.Exchange.Err))
}

func unanswered(k call, err error) string {
	return fmt.Sprintf("%s was not answered: %v", k.op.ID, err)
}

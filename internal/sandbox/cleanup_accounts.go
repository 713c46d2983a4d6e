package sandbox

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"

	"outreach.example/conformance/spec"
)

// moveHome moves an account home from where it was last sent. No operation lists
// accounts: only a successful move shows where an account was.
//
// Runs also request moves that the target must refuse, such as a move to another
// admin workspace. The target then refuses the way back as well. Other moves are
// needed to see that the account never left.
func (c *cleaner) moveHome(e Entry) (string, error) {
	if c.home[e.Email] {
		return "", nil // seen there already: the account was sent to several workspaces
	}
	if _, err := uuid.Parse(e.Away); err != nil { // an invalid move without a response
		return fmt.Sprintf("the account %s cannot have left its workspace: %q is not a workspace", e.Email, e.Away), nil
	}
	home, listed := homeIn(c.profile, e.Email)
	if !listed {
		return "", fmt.Errorf("the account %s stays: the profile lists it under no workspace", e.Email)
	}
	e.Home = home.ID
	admin, siblings, err := c.family(e.Home)
	if err != nil {
		return "", err
	}
	ex, err := c.move(admin, e.Email, e.Away, e.Home)
	switch {
	case err != nil:
		return "", err
	case ex.Status == http.StatusOK:
		return c.atHome(e), nil
	case !refused(ex):
		return "", c.stuck(e, ex)
	}
	other, neighbours, err := c.family(e.Away)
	if err == nil && other.Name != admin.Name { // a target that took it there may give it back to that admin only
		back, err := c.move(other, e.Email, e.Away, e.Home)
		if err != nil {
			return "", err
		}
		if back.Status == http.StatusOK {
			return c.atHome(e), nil
		}
	}
	for _, sibling := range siblings {
		home, err := c.seenAtHome(admin, e, sibling)
		if err != nil {
			return "", err
		}
		if home {
			return c.atHome(e), nil
		}
	}
	if ex.Status != http.StatusPaymentRequired && (len(siblings) > 0 || c.isAway(other, e, neighbours)) {
		return "", c.stuck(e, ex)
	}
	const never = "the account %s: the target refuses to move it home from %s (%s), so it presumably refused to move it there"
	return fmt.Sprintf(never, e.Email, e.Away, c.describe(ex)), nil
}

// isAway reports whether the account can be moved on from where it was sent. It is moved
// back there, where the journal says that it is.
func (c *cleaner) isAway(admin profile.Key, e Entry, neighbours []string) bool {
	for _, neighbour := range neighbours {
		if on, err := c.move(admin, e.Email, e.Away, neighbour); err != nil || on.Status == http.StatusOK {
			_, _ = c.move(admin, e.Email, neighbour, e.Away)
			return true
		}
	}
	return false
}

// atHome notes that the account was seen at home.
func (c *cleaner) atHome(e Entry) string {
	c.home[e.Email] = true
	return fmt.Sprintf("the account %s is in its workspace", e.Email)
}

func (c *cleaner) stuck(e Entry, ex client.Exchange) error {
	return fmt.Errorf("the account %s could not be moved home to %s from %s: %s", e.Email, e.Home, e.Away, c.describe(ex))
}

// refused reports whether the target refused the request for good: a retry would
// get the same response.
func refused(ex client.Exchange) bool {
	return ex.Status/100 == 4 && ex.Status != http.StatusUnauthorized && ex.Status != http.StatusTooManyRequests
}

// family returns the admin key of the workspace, and the ids of the other
// workspaces of the same admin workspace, sorted by role.
func (c *cleaner) family(workspaceID string) (admin profile.Key, siblings []string, err error) {
	known := c.profile
	var home profile.Workspace
	for _, w := range known.Workspaces {
		if strings.EqualFold(w.ID, workspaceID) && w.Admin != "" {
			home = w
		}
	}
	admin, ok := known.AdminKey(home)
	if !ok {
		if admin, ok = known.FullKey(dataset.Admin); !ok {
			return admin, nil, fmt.Errorf("the profile has no key with the scope all:all of the admin workspace of %s", workspaceID)
		}
	}
	for _, role := range slices.Sorted(maps.Keys(known.Workspaces)) {
		w := known.Workspaces[role]
		if home.Admin != "" && w.Admin == home.Admin && !strings.EqualFold(w.ID, workspaceID) {
			siblings = append(siblings, w.ID)
		}
	}
	return admin, siblings, nil
}

// seenAtHome reports whether the account can be moved to a sibling of its home
// and back. It tries the way back first, in case a cleanup was killed in between.
func (c *cleaner) seenAtHome(admin profile.Key, e Entry, sibling string) (bool, error) {
	if back, err := c.move(admin, e.Email, sibling, e.Home); err != nil || back.Status == http.StatusOK {
		return err == nil, err
	}
	there, err := c.move(admin, e.Email, e.Home, sibling)
	if err != nil || there.Status != http.StatusOK {
		return false, err
	}
	back, err := c.move(admin, e.Email, sibling, e.Home)
	if err == nil && back.Status != http.StatusOK {
		err = fmt.Errorf("the account %s could not be moved home to %s from %s: %s", e.Email, e.Home, sibling, c.describe(back))
	}
	return err == nil, err
}

func (c *cleaner) move(admin profile.Key, email, from, to string) (client.Exchange, error) {
	op := spec.MustOperation(spec.MoveAccounts)
	ex := c.send(c.ctx, client.Request{Operation: op.ID, Method: op.Method, Path: op.Path,
		Body: encode(fixtures.MoveAccounts(from, to, email)), Key: admin.ForClient()})
	return ex, ex.Err
}

package sandbox

import (
	"strings"

	"outreach.example/conformance/internal/sandbox/journal"
)

// Left is what killed runs left on a target, according to their journals.
type Left struct {
	Tests    []string // names of tests that they created, or were about to create
	Accounts []string // emails of accounts that they moved, or were about to move
}

// FindLeft reads the journals in the directory. Tests are those on all targets,
// since a target may have several addresses; accounts are those on the target at
// baseURL. Unreadable journals are ignored: Cleanup reports them.
func FindLeft(dir, baseURL string) (left Left) {
	pending, _ := journal.Find(dir)
	for _, p := range pending {
		if p.Alive {
			continue
		}
		for _, e := range p.Entries {
			switch {
			case e.Do == journal.Create:
				left.Tests = append(left.Tests, e.Name)
			case e.Do == journal.Move && isOf(p, baseURL):
				left.Accounts = append(left.Accounts, e.Email)
			}
		}
	}
	return left
}

// isOf reports whether the journal is of a run on the target.
func isOf(p journal.Pending, baseURL string) bool {
	return strings.TrimRight(p.Header.BaseURL, "/") == strings.TrimRight(baseURL, "/")
}

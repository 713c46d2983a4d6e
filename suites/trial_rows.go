package suites

import (
	"github.com/onsi/gomega/types"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
)

// What a trial does with rows that the profile lists.

// Siblings returns two workspaces between which the admin key may move accounts. Those of
// the source are at home there.
func (api *API) Siblings() (source, destination profile.Workspace) {
	return api.subWorkspaces(dataset.Admin)
}

// MovingAccounts returns a call that moves accounts with the admin key. The move is rolled
// back.
func (api *API) MovingAccounts(source, destination profile.Workspace, emails ...string) Call {
	return api.As(dataset.Admin, spec.MoveAccounts).WithBody(move(source, destination, emails...))
}

// Expendable returns a subsequence that the profile lets a run delete, and others that
// nobody deletes meanwhile. The trial must delete it.
func (api *API) Expendable() (id string, others []string) {
	api.Aside(func() { id = api.expendableSubsequence() })
	return id, append(api.neighbours(id), api.Workspace(dataset.Main).Subsequences...)
}

// ExamineMetadata charges metadata that a get shows against what it asked for: true, false
// or nothing.
func (api *API) ExamineMetadata(r Response, asked string) {
	id, fits := spec.MetaAbsent, BeAbsent()
	switch asked {
	case "true":
		id, fits = spec.MetaTrue, BeAnObject()
	case "false":
		id = spec.MetaFalse
	}
	api.Examine(id, spec.GetPlacementTest, r, HaveField("metadata", fits))
}

// KeepID matches a response with the id that was asked for in the field.
func KeepID(field, id string) types.GomegaMatcher { return HaveField(field, EqualID(id)) }

// Row returns the row with the id; nil if the walk does not show it.
func (w Walk) Row(id string) map[string]any { return w.ByKey()[paging.FoldID(id)] }

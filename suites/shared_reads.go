package suites

import (
	"sync"
	"sync/atomic"
)

// sharedRead is a list that was read whole for several specs. It belongs to none of them.
type sharedRead struct {
	mu      sync.Mutex
	walk    Walk
	changes int64 // to the list, before it was read
}

// Shared returns the list as the run read it last, whole. The run reads it again after a change
// of its own. Others may have changed the list meanwhile, so a spec that finds a difference must
// compare with reads of its own. The spec ends if the list cannot be read whole.
func (api *API) Shared(list Call) Walk {
	of, _ := api.reads.LoadOrStore(list.key.Name+" "+list.Operation.ID, &sharedRead{})
	read := of.(*sharedRead)
	read.mu.Lock()
	defer read.mu.Unlock()
	changes := api.changesTo(list.Operation.Resource).Load()
	if read.walk.Complete() && read.changes == changes {
		return read.walk
	}
	reader := newAPI(api.ctx, api.Env, Spec{Operation: list.Operation.ID, Title: "is read for several specs", Pairs: api.spec.Pairs}, 0)
	defer func() {
		reader.chargeTheRest()
		api.addOutside(reader)
	}()
	reader.kept = api.shared // specs may use the rows until the run ends
	read.walk, read.changes = reader.ReadRows(list), changes
	return read.walk
}

// changesTo counts the changes of the run to resources of the kind.
func (e *Env) changesTo(resource string) *atomic.Int64 {
	n, _ := e.changed.LoadOrStore(resource, &atomic.Int64{})
	return n.(*atomic.Int64)
}

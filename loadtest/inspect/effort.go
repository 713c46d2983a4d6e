package inspect

import (
	"sync"
	"time"
)

// head is how far judging may be ahead of its share, so that a short run is covered
// completely.
const head = time.Second

// effort bounds the time for judging to a share of the elapsed time.
type effort struct {
	share float64 // processors
	now   func() time.Time

	mu    sync.Mutex
	began time.Time
	spent time.Duration
}

// allows reports whether there is time for one more judgement.
func (e *effort) allows() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.now()
	if e.began.IsZero() {
		e.began = now
	}
	return e.spent < head+time.Duration(e.share*float64(now.Sub(e.began)))
}

func (e *effort) took(d time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.spent += d
}

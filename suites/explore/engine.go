package explore

import (
	"errors"
	"flag"
	"strconv"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// shrinkTime is how long the engine may shrink a case, unless the caller says otherwise.
const shrinkTime = 20 * time.Second

// engine guards the settings of the property-testing engine, which are flags of the
// process.
var engine sync.Mutex

// round has the engine try cases from the seed until the property fails, and then shrink
// the case. The engine tries the smallest case once more at the end.
func round(seed uint64, shrink time.Duration, property func(*rapid.T)) error {
	engine.Lock()
	begun := sync.OnceFunc(engine.Unlock)
	defer begun()
	if err := settings(seed, shrink); err != nil {
		return err
	}
	rapid.Check(silent{}, func(t *rapid.T) {
		begun() // the engine has read its settings
		property(t)
	})
	return nil
}

// settings sets the flags of the engine. Outside of a test, testing has to be set up
// first: the engine asks it whether tests should be short.
func settings(seed uint64, shrink time.Duration) error {
	testing.Init()
	return errors.Join(
		flag.CommandLine.Parse(nil),
		flag.Set("rapid.seed", strconv.FormatUint(max(1, seed), 10)), // 0 draws one
		flag.Set("rapid.shrinktime", shrink.String()),
		flag.Set("rapid.nofailfile", "true"),
	)
}

// silent stands in for a test and forgets what the engine says. The property notes what it
// needs. The engine calls no other methods.
type silent struct{ rapid.TB }

func (silent) Helper()               {}
func (silent) Name() string          { return "explore" }
func (silent) Logf(string, ...any)   {}
func (silent) Errorf(string, ...any) {}
func (silent) Failed() bool          { return false }

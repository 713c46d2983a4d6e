package explore

import (
	"errors"
	"flag"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// checks is how many cases the engine generates in one round.
const checks = 100

// shrinkTime is how long the engine may shrink one case, unless the caller says otherwise.
const shrinkTime = 2 * time.Second

// engine guards the settings of the property-testing engine, which are flags of the
// process.
var engine sync.Mutex

// round has the engine try cases from the seed until the property fails, and then shrink
// the case. It reports whether the property failed. The property must keep its last
// failing case: that is the shortest.
func round(seed uint64, shrink time.Duration, property func(*rapid.T)) (failed bool, err error) {
	engine.Lock()
	if err := settings(seed, shrink); err != nil {
		engine.Unlock()
		return false, err
	}
	begun := sync.OnceFunc(engine.Unlock) // the engine has read its settings
	defer begun()
	attempt := &attempt{}
	ended := make(chan struct{})
	go func() { // the engine ends the goroutine of a failed attempt
		defer close(ended)
		rapid.Check(attempt, func(t *rapid.T) {
			begun()
			property(t)
		})
	}()
	<-ended
	return attempt.failed, nil
}

// settings sets the flags of the engine. Outside of a test, testing has to be set up
// first: the engine asks it whether tests should be short.
func settings(seed uint64, shrink time.Duration) error {
	if !flag.Parsed() {
		testing.Init()
		if err := flag.CommandLine.Parse(nil); err != nil {
			return err
		}
	}
	return errors.Join(
		flag.Set("rapid.seed", strconv.FormatUint(max(1, seed), 10)), // 0 draws one
		flag.Set("rapid.checks", strconv.Itoa(checks)),
		flag.Set("rapid.shrinktime", shrink.String()),
		flag.Set("rapid.nofailfile", "true"),
	)
}

// attempt stands in for a test: it takes what the engine says, and forgets the words.
type attempt struct{ failed bool }

func (*attempt) Helper()                 {}
func (*attempt) Name() string            { return "explore" }
func (*attempt) Logf(string, ...any)     {}
func (*attempt) Log(...any)              {}
func (*attempt) Skipf(string, ...any)    { runtime.Goexit() }
func (*attempt) Skip(...any)             { runtime.Goexit() }
func (*attempt) SkipNow()                { runtime.Goexit() }
func (a *attempt) Errorf(string, ...any) { a.failed = true }
func (a *attempt) Error(...any)          { a.failed = true }
func (a *attempt) Fail()                 { a.failed = true }
func (a *attempt) Failed() bool          { return a.failed }
func (a *attempt) Fatal(...any)          { a.FailNow() }
func (a *attempt) Fatalf(string, ...any) { a.FailNow() }
func (a *attempt) FailNow() {
	a.failed = true
	runtime.Goexit()
}

var _ rapid.TB = (*attempt)(nil)

// violated is the text with which a property fails. The engine compares texts to tell
// whether a case is reproduced.
func violated(requirement, operation string) string {
	return fmt.Sprintf("%s on %s", requirement, operation)
}

package client

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// TestLastLook draws how long looks take. The last one begins after the limit, at most as
// late as the look before it ended, and only it is told that it is the last.
func TestLastLook(t *testing.T) {
	failed := errors.New("not yet")
	rapid.Check(t, func(rt *rapid.T) {
		limit := time.Duration(rapid.Int64Range(0, int64(10*time.Second)).Draw(rt, "limit"))
		takes := rapid.SliceOfN(rapid.Int64Range(0, int64(2*time.Second)), 1, 20).Draw(rt, "takes")
		synctest.Test(t, func(*testing.T) {
			began, ended, looks, told := time.Now(), time.Duration(0), 0, false
			err := Within(context.Background(), limit, func(last bool) (bool, error) {
				at := time.Since(began)
				if told {
					rt.Fatal("a look after the last")
				}
				if told = at >= limit; last != told {
					rt.Fatalf("last = %v after %v of %v", last, at, limit)
				}
				if told && at > max(limit, ended) {
					rt.Fatalf("the last look begins after %v, the look before ended after %v", at, ended)
				}
				time.Sleep(time.Duration(takes[looks%len(takes)]))
				ended, looks = time.Since(began), looks+1
				return false, failed
			})
			if !told || !errors.Is(err, failed) {
				rt.Fatalf("the last look: %v, error %v", told, err)
			}
		})
	})
}

// TestEnds shows what ends the looks early.
func TestEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, looks := time.Now(), 0
		err := Within(t.Context(), time.Minute, func(bool) (bool, error) {
			looks++
			return looks == 3, nil
		})
		if took := time.Since(began); err != nil || looks != 3 || took != 3*firstPause {
			t.Errorf("%d looks in %v: %v", looks, took, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		err = Within(ctx, time.Minute, func(bool) (bool, error) {
			cancel()
			return false, nil
		})
		if !errors.Is(err, ErrCanceled) {
			t.Errorf("a context that ended: %v", err)
		}
	})
}

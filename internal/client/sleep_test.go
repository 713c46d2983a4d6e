package client

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestSleep(t *testing.T) {
	for name, tc := range map[string]struct {
		wait, endsAfter, want time.Duration // endsAfter: 0 if the context does not end
		err                   error
	}{
		"to the end":                  {time.Minute, 0, time.Minute, nil},
		"until the context ends":      {time.Minute, time.Second, time.Second, context.Canceled},
		"not at all":                  {0, 0, 0, nil},
		"not for less than nothing":   {-time.Minute, 0, 0, nil},
		"not in a context that ended": {-time.Minute, -1, 0, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				// The cause of a signal is not the context's error.
				ctx, cancel := context.WithCancelCause(t.Context())
				end := func() { cancel(errors.New("interrupt")) }
				switch {
				case tc.endsAfter < 0:
					end()
				case tc.endsAfter > 0:
					time.AfterFunc(tc.endsAfter, end)
				}
				began := time.Now()
				if err := Sleep(ctx, tc.wait); err != tc.err {
					t.Errorf("error %v, want %v", err, tc.err)
				}
				if slept := time.Since(began); slept != tc.want {
					t.Errorf("slept %s, want %s", slept, tc.want)
				}
			})
		})
	}
}

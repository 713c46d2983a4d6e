package sandbox

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
)

// gated answers 429 until the time has come, and then 404. The time lies within the
// patience of the client.
type gated struct{ until time.Time }

func (g gated) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	answer := &http.Response{StatusCode: http.StatusNotFound, Request: r, ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}"))}
	if time.Now().Before(g.until) {
		answer.StatusCode = http.StatusTooManyRequests
		answer.Header.Set("Retry-After", "20")
	}
	return answer, nil
}

// While the target answers 429, the time of a rollback does not pass. If a user waits,
// it does.
func TestRollbackOutlastsARateLimit(t *testing.T) {
	for _, tc := range []struct {
		name   string
		end    func(cancel context.CancelCauseFunc) // of the work
		closed time.Duration
		want   bool
	}{
		{"while the work goes on", func(context.CancelCauseFunc) {}, 50 * time.Second, true},
		{"after an interruption", func(cancel context.CancelCauseFunc) { cancel(nil) }, 50 * time.Second, false},
		{"after an interruption, and shortly", func(cancel context.CancelCauseFunc) { cancel(nil) }, 20 * time.Second, true},
		{"after an outage", func(cancel context.CancelCauseFunc) { cancel(client.ErrStopped) }, 20 * time.Second, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				api, err := client.New(client.Options{BaseURL: "http://target.invalid", Transport: gated{time.Now().Add(tc.closed)}})
				g.Expect(err).NotTo(HaveOccurred())
				s := New(Config{Send: api.Do, Profile: profile.Embedded()})
				work, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				ctx, done := ForRollback(work)
				defer done()
				tc.end(cancel)
				key, _ := s.Profile.FullKey(dataset.Main)
				why := deleteTest(ctx, s.Send, s.Profile, key.ForClient(), "x")
				g.Expect(why == "").To(Equal(tc.want), why)
			})
		})
	}
}

// Time in which no request waits passes, whatever waited before.
func TestBudgetPassesBetweenWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		api, err := client.New(client.Options{BaseURL: "http://target.invalid", Transport: gated{time.Now().Add(10 * time.Minute)}})
		g.Expect(err).NotTo(HaveOccurred())
		ctx, cancel := within(t.Context(), 10*time.Second, func() (time.Duration, bool) { return time.Hour, true })
		defer cancel()
		time.Sleep(step / 2) // no wait begins or ends at the moment of a look at the clock
		for range 3 {
			waiting, stop := context.WithTimeout(ctx, 19*time.Second)
			_ = api.Do(waiting, client.Request{Path: "/", Key: client.Key{Name: "a", Token: "b"}})
			stop()
			g.Expect(ctx.Err()).NotTo(HaveOccurred())
			time.Sleep(3 * time.Second)
		}
		g.Expect(ctx.Err()).NotTo(HaveOccurred(), "after 9 s")
		time.Sleep(1100 * time.Millisecond)
		g.Expect(ctx.Err()).To(HaveOccurred())
	})
}

package target

import (
	"context"
	"net/http"
	"sync"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/refserver"
	"outreach.example/conformance/refserver/limiter"
)

func embedded(t *testing.T, server refserver.Options) *Target {
	t.Helper()
	target, err := Embedded(t.Context(), dataset.DefaultOptions(), server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = target.Close(context.WithoutCancel(t.Context())) })
	return target
}

func TestEmbeddedServesItsProfile(t *testing.T) {
	g := NewWithT(t)
	target := embedded(t, refserver.Options{})
	g.Expect(target.Kind).To(Equal(KindEmbedded))
	g.Expect(target.BaseURL).To(HavePrefix("http://127.0.0.1:"))
	g.Expect(target.Reachable(t.Context())).To(Succeed())

	want := fixtures.Embedded()
	want.BaseURL = target.BaseURL
	g.Expect(written(t, target.Profile)).To(Equal(written(t, want)), "with the default data it is the committed profile")

	key, ok := target.Profile.FullKey(dataset.Main)
	g.Expect(ok).To(BeTrue())
	g.Expect(testbed.Status(t, target.BaseURL+probePath, key.Token)).To(Equal(http.StatusOK))
	g.Expect(testbed.Status(t, target.BaseURL+probePath, "")).To(Equal(http.StatusUnauthorized))
	g.Expect(testbed.Status(t, target.TruthURL+"/truth", "")).To(Equal(http.StatusOK))
}

func TestEmbeddedPromisesTheLimitThatItKeeps(t *testing.T) {
	g := NewWithT(t)
	promise := embedded(t, refserver.Options{}).Profile.RateLimit
	g.Expect(promise.Requests).To(Equal(refserver.LimitedRequests))
	g.Expect(promise.Per).To(Equal(refserver.LimitedPer))

	own := embedded(t, refserver.Options{Limiters: map[string]limiter.Config{}}).Profile.RateLimit
	g.Expect(own.Requests).To(BeZero(), "a limiter of the caller's is not promised")
	g.Expect(own.Per).To(BeZero())
}

func TestEmbeddedTargetsAreIndependent(t *testing.T) {
	g := NewWithT(t)
	one, other := embedded(t, refserver.Options{}), embedded(t, refserver.Options{})
	g.Expect(one.BaseURL).NotTo(Equal(other.BaseURL))
	g.Expect(one.Close(t.Context())).To(Succeed())
	g.Expect(other.Reachable(t.Context())).To(Succeed())
}

func TestEmbeddedIsGoneAfterClose(t *testing.T) {
	g := NewWithT(t)
	target := embedded(t, refserver.Options{})
	var closers sync.WaitGroup
	for range 4 {
		closers.Go(func() {
			if err := target.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	closers.Wait()
	g.Expect(target.Reachable(t.Context())).To(MatchError(ContainSubstring("connecting failed")))
}

// The context of the start is not the server's life.
func TestEmbeddedOutlivesTheContextOfItsStart(t *testing.T) {
	g := NewWithT(t)
	ctx, cancel := context.WithCancel(t.Context())
	target, err := Embedded(ctx, dataset.DefaultOptions(), refserver.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	cancel()
	g.Expect(target.Reachable(t.Context())).To(Succeed())
	g.Expect(target.Close(t.Context())).To(Succeed())
}

func TestEmbeddedReportsDataThatCannotBe(t *testing.T) {
	_, err := Embedded(t.Context(), dataset.Options{Rows: -1}, refserver.Options{})
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("data set")))
}

func written(t *testing.T, p *fixtures.Profile) string {
	t.Helper()
	text, err := p.YAML("")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

package shape

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

const ms = time.Millisecond

func shaped(t testing.TB, text string) *Shape {
	t.Helper()
	c, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(c, 7)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// In each block of a hundred, and in no other way, the shares are kept.
func TestSharesAreExactInEachBlock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := Share(100 * rapid.IntRange(1, 98).Draw(t, "a"))
		b := Share(100 * rapid.IntRange(1, 99-int(a/100)).Draw(t, "b"))
		s := newSequence(rapid.Uint64().Draw(t, "seed"), a, b, Whole-a-b)
		block := rapid.Uint64Range(0, 1<<40).Draw(t, "block")
		var got [3]Share
		for n := range uint64(100) {
			got[s.of(100*block+n)] += 100
		}
		if got != [3]Share{a, b, Whole - a - b} {
			t.Fatalf("%v in a block, want %v and %v", got, a, b)
		}
	})
}

// A latency that always met the same requests of a cycle would be the latency
// of those requests.
func TestRareLatenciesMeetAllPlaces(t *testing.T) {
	s := newSequence(1, 200, 9800)
	met := map[uint64]int{}
	for n := range uint64(10_000) {
		if s.of(n) == 0 {
			met[n%50]++
		}
	}
	if len(met) < 45 {
		t.Errorf("one in 50 falls on %d places of a cycle of 50", len(met))
	}
	if other := newSequence(2, 200, 9800); slices.Equal(heads(s), heads(other)) {
		t.Error("another seed deals out alike")
	}
	if !slices.Equal(heads(s), heads(newSequence(1, 200, 9800))) {
		t.Error("the same seed deals out otherwise")
	}
}

func heads(s sequence) []int {
	dealt := make([]int, 500)
	for n := range dealt {
		dealt[n] = s.of(uint64(n))
	}
	return dealt
}

func TestHowLongRequestsAreHeld(t *testing.T) {
	for _, c := range []struct {
		shape         string
		arrival, want time.Duration
	}{
		{"100%:3ms", 50 * ms, 53 * ms},
		{"drift=10ms/1s", 0, 0},
		{"drift=10ms/1s", 2500 * ms, 2525 * ms},
		{"100%:3ms,drift=10ms/1s", time.Second, 1013 * ms},
		{"stall=2s/10s", 7999 * ms, 7999 * ms},
		{"stall=2s/10s", 8000 * ms, 10_000 * ms},
		{"stall=2s/10s", 9999 * ms, 10_000 * ms},
		{"stall=2s/10s", 10_000 * ms, 10_000 * ms},
		{"stall=2s/10s", 18_500 * ms, 20_000 * ms},
		{"stall=2s/10s,100%:5ms", 9000 * ms, 10_005 * ms},
		{"stall=2s/10s,100%:5ms", 7998 * ms, 10_000 * ms}, // under way when it began
		{"stall=2s/10s,100%:9s", 1000 * ms, 10_000 * ms},
		{"capacity=100/1s", 50 * ms, 60 * ms},
		{"capacity=100/1s,100%:5ms", 50 * ms, 65 * ms},
	} {
		if got, fails := shaped(t, c.shape).plan(0, c.arrival); got != c.want || fails {
			t.Errorf("%s: a request that comes at %v is held until %v, want %v (fails: %v)", c.shape, c.arrival, got, c.want, fails)
		}
	}
}

func TestNothingIsAnsweredInAStall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, err := New(draw(t), 1)
		if err != nil {
			t.Fatal(err)
		}
		arrival := time.Duration(0)
		for n := range uint64(20) {
			arrival += duration(t, 0, 5*time.Second)
			until, _ := s.plan(n, arrival)
			if until < arrival {
				t.Fatalf("answered at %v, but it came at %v", until, arrival)
			}
			if stall := s.config.Stall; stall.Every > 0 && until%stall.Every >= stall.Every-stall.For {
				t.Fatalf("answered at %v, within a stall of %+v", until, stall)
			}
		}
	})
}

// However many come at once, the capacity is neither exceeded nor wasted.
func TestCapacityIsTheServiceRate(t *testing.T) {
	s := shaped(t, "capacity=200/1s")
	var done []time.Duration
	for n := range uint64(400) {
		until, _ := s.plan(n, time.Duration(n)*ms) // 1,000 a second
		done = append(done, until)
	}
	for i := range done[1:] {
		if gap := done[i+1] - done[i]; gap != 5*ms {
			t.Fatalf("request %d is answered %v after the former one, want 5ms", i+1, gap)
		}
	}
	// A server that had nothing to do has saved nothing up.
	if until, _ := s.plan(400, 10*time.Second); until != 10*time.Second+5*ms {
		t.Errorf("after a rest: answered at %v", until)
	}
}

func TestErrorsAreExact(t *testing.T) {
	s := shaped(t, "errors=0.5%")
	failed := 0
	for n := range uint64(2000) {
		if _, fails := s.plan(n, 0); fails {
			failed++
		}
	}
	if failed != 10 {
		t.Errorf("%d of 2000 fail, want 10", failed)
	}
}

// The middleware keeps to the plan, in real requests and in the bubble's time.
func TestMiddlewareTakesAsLongAsItSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handler := shaped(t, "98%:2ms,2%:250ms").Middleware(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		var mu sync.Mutex
		took := map[time.Duration]int{}
		var requests sync.WaitGroup
		for range 1000 {
			requests.Go(func() {
				began := time.Now()
				handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
				mu.Lock()
				took[time.Since(began)]++
				mu.Unlock()
			})
			time.Sleep(ms)
		}
		requests.Wait()
		if took[2*ms] != 980 || took[250*ms] != 20 {
			t.Errorf("latencies %v, want 980 of 2ms and 20 of 250ms", took)
		}
	})
}

func TestTimeCountsFromTheFirstRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handler := shaped(t, "stall=2s/10s").Middleware(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		ask := func() time.Duration {
			began := time.Now()
			handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
			return time.Since(began)
		}
		time.Sleep(9 * time.Second)
		if took := ask(); took != 0 {
			t.Errorf("the first request took %v", took)
		}
		time.Sleep(8500 * ms)
		if took := ask(); took != 1500*ms {
			t.Errorf("in the stall a request took %v, want 1.5s", took)
		}
	})
}

func TestAClientThatGivesUpIsLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handler := shaped(t, "100%:30s").Middleware(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			t.Error("the request goes on without its client")
		}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/", nil))
		if took := time.Since(began); took != time.Second {
			t.Errorf("it was held for %v after it had given up at 1s", took)
		}
	})
}

func TestFailuresLookLikeThoseOfTheService(t *testing.T) {
	w := httptest.NewRecorder()
	shaped(t, "errors=100%:503").Middleware(nil).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	var body struct {
		StatusCode int
		Error      string
		Message    string
	}
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
		t.Fatal(err)
	}
	if w.Code != 503 || body.StatusCode != 503 || body.Error != "Service Unavailable" || body.Message == "" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestTheEmptyConfigurationIsNotThere(t *testing.T) {
	called := false
	shaped(t, "").Middleware(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true })).ServeHTTP(nil, nil)
	if !called {
		t.Error("the handler was not called as it is")
	}
}

func TestNewValidates(t *testing.T) {
	if _, err := New(Config{Mix: []Part{{Share: 1}}}, 1); err == nil {
		t.Error("a mix of 0.01% was accepted")
	}
}

func BenchmarkPlan(b *testing.B) {
	s := shaped(b, "98%:2ms,2%:250ms,stall=2s/10s,drift=1ms/10s,capacity=1000000/1s,errors=1%")
	for n := range uint64(b.N) {
		s.plan(n, time.Duration(n)*1000)
	}
}

package webhook

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience bounds how long a test waits for what must happen.
const patience = 10 * time.Second

// journal keeps copies of what was logged, in order.
type journal struct {
	entries chan Attempt
}

func newJournal() *journal {
	return &journal{entries: make(chan Attempt, 100)}
}

func (j *journal) log(a *Attempt) { j.entries <- *a }

func (j *journal) next(t *testing.T) Attempt {
	t.Helper()
	select {
	case a := <-j.entries:
		return a
	case <-time.After(patience):
		t.Fatal("no attempt was logged")
		return Attempt{}
	}
}

// subscriber answers with the statuses in turn, the last one for ever.
func subscriber(t *testing.T, statuses ...int) (url string, bodies func() []string) {
	var mu sync.Mutex
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		status := statuses[min(len(got), len(statuses)-1)]
		got = append(got, string(body))
		mu.Unlock()
		if status/100 == 3 {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() []string { mu.Lock(); defer mu.Unlock(); return append([]string(nil), got...) }
}

func start(t *testing.T, config Config) *Sender {
	t.Helper()
	s, err := New(config, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

func TestDeliversAtOnce(t *testing.T) {
	url, bodies := subscriber(t, 204)
	j := newJournal()
	start(t, Config{URL: url}).Send(Event{Payload: []byte(`{"a":1}`), Log: j.log})
	if a := j.next(t); !a.Success || a.StatusCode != 204 || a.Error != "" || a.WillRetry || a.Retry != 0 {
		t.Errorf("logged %+v", a)
	}
	if got := bodies(); len(got) != 1 || got[0] != `{"a":1}` {
		t.Errorf("the subscriber got %q", got)
	}
}

func TestRetriesUntilItSucceedsAndAmendsEarlierAttempts(t *testing.T) {
	url, bodies := subscriber(t, 500, 503, 200)
	j := newJournal()
	start(t, Config{URL: url, Retries: []time.Duration{time.Millisecond, 2 * time.Millisecond, time.Hour}}).
		Send(Event{Payload: []byte(`{}`), Log: j.log})
	for i, want := range []Attempt{
		{Retry: 0, StatusCode: 500, WillRetry: true, RetryIn: time.Millisecond},
		{Retry: 1, StatusCode: 503, WillRetry: true, RetryIn: 2 * time.Millisecond},
		{Retry: 2, StatusCode: 200, Success: true},
		{Retry: 0, StatusCode: 500, WillRetry: true, RetryIn: time.Millisecond, RetrySuccessful: true},
		{Retry: 1, StatusCode: 503, WillRetry: true, RetryIn: 2 * time.Millisecond, RetrySuccessful: true},
	} {
		got := j.next(t)
		if (got.Error == "") != want.Success {
			t.Errorf("entry %d: error %q with success %v", i, got.Error, want.Success)
		}
		got.Error, got.Elapsed = "", 0
		if got != want {
			t.Errorf("entry %d: %+v, want %+v", i, got, want)
		}
	}
	if n := len(bodies()); n != 3 {
		t.Errorf("the subscriber was asked %d times, want 3", n)
	}
}

func TestGivesUpAfterTheLastRetry(t *testing.T) {
	url, bodies := subscriber(t, 500)
	j := newJournal()
	start(t, Config{URL: url, Retries: []time.Duration{time.Millisecond}}).Send(Event{Log: j.log})
	if a := j.next(t); !a.WillRetry {
		t.Errorf("first attempt: %+v, want a retry", a)
	}
	if a := j.next(t); a.WillRetry || a.RetryIn != 0 || a.Retry != 1 {
		t.Errorf("last attempt: %+v, want no retry", a)
	}
	if n := len(bodies()); n != 2 {
		t.Errorf("the subscriber was asked %d times, want 2", n)
	}
}

func TestDoesNotFollowRedirects(t *testing.T) {
	url, bodies := subscriber(t, 307)
	j := newJournal()
	start(t, Config{URL: url, Retries: []time.Duration{}}).Send(Event{Log: j.log})
	if a := j.next(t); a.Success || a.StatusCode != 307 {
		t.Errorf("logged %+v, want a failure with status 307", a)
	}
	if n := len(bodies()); n != 1 {
		t.Errorf("the subscriber was asked %d times, want 1", n)
	}
}

func TestUnreachableAndSlowSubscribersAreFailures(t *testing.T) {
	release := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(slow.Close)
	t.Cleanup(func() { close(release) })
	const nobody = "http://127.0.0.1:1"
	for name, url := range map[string]string{"unreachable": nobody, "slow": slow.URL} {
		j := newJournal()
		start(t, Config{URL: url, Timeout: 20 * time.Millisecond, Retries: []time.Duration{}}).Send(Event{Log: j.log})
		if a := j.next(t); a.Success || a.StatusCode != 0 || a.Error == "" {
			t.Errorf("%s: logged %+v", name, a)
		}
	}
}

// holding returns a subscriber that says when it was asked and answers when released.
func holding(t *testing.T) (url string, asked <-chan struct{}, release func()) {
	entered, held := make(chan struct{}, 100), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		entered <- struct{}{}
		<-held
	}))
	release = sync.OnceFunc(func() { close(held) })
	t.Cleanup(server.Close)
	t.Cleanup(release)
	return server.URL, entered, release
}

func TestFullQueueIsLoggedAsFailure(t *testing.T) {
	url, asked, release := holding(t)
	j, overflow := newJournal(), newJournal()
	s := start(t, Config{URL: url, Queue: 1, Workers: 1})
	s.Send(Event{Log: j.log})
	<-asked
	s.Send(Event{Log: overflow.log})
	if a := overflow.next(t); a.Success || a.WillRetry || !strings.Contains(a.Error, "full") {
		t.Errorf("logged %+v, want a final failure that says that the queue is full", a)
	}
	release()
	if a := j.next(t); !a.Success {
		t.Errorf("the event that had room: %+v", a)
	}
}

func TestCloseDrainsTheQueue(t *testing.T) {
	url, asked, release := holding(t)
	j := newJournal()
	s := start(t, Config{URL: url, Workers: 1})
	for range 5 {
		s.Send(Event{Log: j.log})
	}
	<-asked
	closed := make(chan error)
	go func() { closed <- s.Close(context.Background()) }()
	release()
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if a := j.next(t); !a.Success {
			t.Errorf("logged %+v", a)
		}
	}
	s.Send(Event{Log: j.log})
	if a := j.next(t); a.Success || !strings.Contains(a.Error, "shutting down") {
		t.Errorf("after Close: logged %+v", a)
	}
}

func TestCloseGivesUpRetriesThatAreNotDue(t *testing.T) {
	url, bodies := subscriber(t, 500)
	j := newJournal()
	s := start(t, Config{URL: url, Retries: []time.Duration{time.Hour}})
	s.Send(Event{Log: j.log})
	if a := j.next(t); !a.WillRetry {
		t.Fatalf("logged %+v, want a retry in an hour", a)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if a := j.next(t); a.WillRetry || a.Retry != 0 {
		t.Errorf("after Close: %+v, want the promise taken back", a)
	}
	if n := len(bodies()); n != 1 {
		t.Errorf("the subscriber was asked %d times, want 1", n)
	}
}

func TestCloseAbortsAtItsDeadline(t *testing.T) {
	url, asked, _ := holding(t)
	j := newJournal()
	s := start(t, Config{URL: url, Timeout: time.Hour, Workers: 1, Retries: []time.Duration{time.Hour}})
	for range 3 {
		s.Send(Event{Log: j.log})
	}
	<-asked
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Close(ctx); err == nil {
		t.Error("Close says that all was delivered")
	}
	for range 3 {
		if a := j.next(t); a.Success || a.WillRetry {
			t.Errorf("logged %+v, want a final failure", a)
		}
	}
}

func TestNewRefusesWhatIsNoAddress(t *testing.T) {
	for _, url := range []string{"", "example.com", "ftp://example.com", "http://", "%"} {
		if _, err := New(Config{URL: url}, slog.New(slog.DiscardHandler)); err == nil {
			t.Errorf("New took %q", url)
		}
	}
}

package inspect

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

const token = "secret-token-of-main"

var sharedRules = sync.OnceValues(judge.NewRules)

// TestMain compiles the rules outside of any synctest bubble.
func TestMain(m *testing.M) {
	if _, err := sharedRules(); err != nil {
		panic(err)
	}
	m.Run()
}

func newInspector(t *testing.T, opts Options) *Inspector {
	t.Helper()
	var err error
	if opts.Rules, err = sharedRules(); err != nil {
		t.Fatal(err)
	}
	in, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(in.Close)
	return in
}

// answering returns an answer to a valid request for lead lists.
func answering(status int, body string) Answer {
	b := NewBuffer()
	if err := b.Fill(strings.NewReader(body), int64(len(body)), 1<<20); err != nil {
		panic(err)
	}
	return Answer{
		Asked:  judge.Request{Operation: spec.MustOperation(spec.ListLeadLists), Allowed: client.Only(http.StatusOK)},
		Method: http.MethodGet, Path: "/api/v2/lead-lists?limit=10", Key: client.Key{Name: "main", Token: token},
		Status: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: b,
	}
}

const emptyPage = `{"items":[]}`

// inspected inspects the answers, closes the inspector and returns its result.
func inspected(in *Inspector, answers ...Answer) Result {
	for _, a := range answers {
		in.Take(a)
	}
	in.Close()
	return in.Result()
}

// failed returns the checks that failed, by requirement.
func failed(r Result) map[string]reports.Check {
	checks := map[string]reports.Check{}
	for _, c := range r.Checks {
		if c.Outcome == reports.Fail {
			checks[c.Requirement] = c
		}
	}
	return checks
}

// violations returns the number of all violations.
func violations(r Result) (n int) {
	for _, c := range r.Checks {
		n += c.ViolationCount
	}
	return n
}

// coverage returns the share of the answers that was judged.
func coverage(r Result) float64 { return float64(r.Judged+r.Known) / float64(r.Answers) }

func TestAHealthyAnswer(t *testing.T) {
	g := NewWithT(t)
	r := inspected(newInspector(t, Options{}), answering(200, emptyPage), answering(200, emptyPage), answering(200, emptyPage))
	g.Expect(failed(r)).To(BeEmpty())
	g.Expect(violations(r)).To(BeZero())
	g.Expect(r.Troubles).To(BeEmpty())
	g.Expect(r.Judged).To(BeEquivalentTo(1))
	g.Expect(r.Known).To(BeEquivalentTo(2))
	g.Expect(coverage(r)).To(Equal(1.0))
	g.Expect(r.Checks).NotTo(BeEmpty())
	for _, c := range r.Checks {
		g.Expect(c.Operation).To(Equal(spec.ListLeadLists))
		g.Expect(c.Assessments).To(Equal(3), "%s: what came again was put to the test again", c.Requirement)
	}
}

func TestViolations(t *testing.T) {
	const right429 = `{"statusCode":429,"error":"Too Many Requests","message":"slow down"}`
	html := answering(429, right429)
	html.Header = http.Header{"Content-Type": {"text/html"}}
	for name, tc := range map[string]struct {
		answer Answer
		broken []string // among others
	}{
		"a 5xx":                         {answering(500, `oops`), []string{"STATUS-200"}},
		"a 429 of another content type": {html, []string{"ERROR-429-CONTENT_TYPE"}},
		"a rightly shaped 429":          {answering(429, right429), nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			r := inspected(newInspector(t, Options{}), tc.answer)
			g.Expect(r.Troubles).To(BeEmpty())
			broken := failed(r)
			for _, id := range tc.broken {
				g.Expect(broken).To(HaveKey(id))
				c := broken[id]
				g.Expect(c.Operation).To(Equal(spec.ListLeadLists))
				g.Expect(c.Violations).NotTo(BeEmpty())
				v := c.Violations[0]
				g.Expect(v.Statement).NotTo(BeEmpty())
				g.Expect(v.Section).NotTo(BeEmpty())
				g.Expect(v.Expected).NotTo(BeEmpty())
				g.Expect(v.Actual).NotTo(BeEmpty())
				if strings.HasPrefix(id, "ERROR-429-") { // one request alone is not refused
					g.Expect(v.Curl).To(And(HavePrefix("d=$(mktemp -d); for "), ContainSubstring(`-H "Authorization: Bearer $OUTREACH_KEY_MAIN" "$OUTREACH_URL/api/v2/lead-lists?limit=10#[1-50]"; `)))
					continue
				}
				g.Expect(v.Curl).To(Equal(`curl -i -H "Authorization: Bearer $OUTREACH_KEY_MAIN" "$OUTREACH_URL/api/v2/lead-lists?limit=10"`))
			}
			if tc.broken == nil {
				g.Expect(broken).To(BeEmpty())
				g.Expect(r.Checks).NotTo(BeEmpty())
			}
		})
	}
}

func TestWhatIsNotAllThereIsNotJudged(t *testing.T) {
	g := NewWithT(t)
	cut, long, zipped, none := answering(200, `{`), answering(200, `{`), answering(200, `{`), answering(0, ``)
	cut.Cut = true
	long.Cut, long.Long = true, true
	zipped.Header = http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {"gzip"}}
	r := inspected(newInspector(t, Options{}), cut, long, zipped, none)
	g.Expect(r.Unread).To(Equal(Unread{Compressed: 1, Long: 1, Partial: 2}))
	g.Expect(r.Checks).To(BeEmpty())
	g.Expect(coverage(r)).To(BeZero())
}

// stopped returns an inspector that judges nothing until it is closed.
func stopped(t *testing.T, opts Options) (in *Inspector, goOn func()) {
	gate := make(chan struct{})
	block := true
	opts.Rules, _ = sharedRules()
	in, err := start(opts, func() time.Time {
		if block {
			block = false
			<-gate
		}
		return time.Now()
	})
	if err != nil {
		t.Fatal(err)
	}
	return in, func() { close(gate); in.Close() }
}

func TestAFullQueueDropsAndCounts(t *testing.T) {
	page := `{"items":[]` + strings.Repeat(" ", 1000) + `}`
	for name, opts := range map[string]Options{
		"by answers": {queue: 4},
		"by bytes":   {queueBytes: 4500},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				in, goOn := stopped(t, opts)
				in.Take(answering(200, page))
				synctest.Wait() // now it is being looked at
				for range 10 {
					in.Take(answering(200, page))
				}
				goOn()
				r := in.Result()
				g.Expect(r.Dropped).To(BeEquivalentTo(6))
				g.Expect(r.Judged + r.Known).To(BeEquivalentTo(5))
				g.Expect(r.Answers).To(BeEquivalentTo(11))
				g.Expect(coverage(r)).To(BeNumerically("~", 5.0/11))
				in.Take(answering(200, page))
				g.Expect(in.Result().Dropped).To(BeEquivalentTo(7), "nothing is looked at after the end")
			})
		})
	}
}

// An error in the rules is no violation, and the inspector survives it.
func TestTrouble(t *testing.T) {
	g := NewWithT(t)
	odd := answering(200, emptyPage)
	odd.Asked.Operation.Resource = "NoSuchResource"
	worse := answering(200, `{"items":[] }`)
	worse.Asked.Operation = spec.Operation{ID: "no.such-operation"}
	r := inspected(newInspector(t, Options{}), odd, worse, answering(200, `{"items":[]  }`))
	g.Expect(r.Troubled).To(BeEquivalentTo(2))
	g.Expect(r.Troubles).To(HaveLen(2))
	g.Expect(r.Judged).To(BeEquivalentTo(1))
	g.Expect(failed(r)).To(BeEmpty())
}

// A buffer holds a reader's bytes up to the bound, for any sizes of reads and any
// announced length.
func TestFill(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.SliceOfN(rapid.Byte(), 0, 20_000).Draw(t, "body")
		most := rapid.Int64Range(0, 20_000).Draw(t, "most")
		expected := rapid.Int64Range(-1, 30_000).Draw(t, "expected")
		var r io.Reader = bytes.NewReader(body)
		switch rapid.IntRange(0, 3).Draw(t, "reader") {
		case 1:
			r = iotest.DataErrReader(r)
		case 2:
			r = iotest.HalfReader(r)
		case 3:
			r = iotest.OneByteReader(r)
		}
		b := NewBuffer()
		defer b.Release()
		err := b.Fill(r, expected, most)
		tooLong := int64(len(body)) > most || expected > most
		if errors.Is(err, ErrTooLong) != tooLong || !tooLong && err != nil {
			t.Fatalf("%d bytes of at most %d: %v", len(body), most, err)
		}
		want := body[:min(int64(len(body)), most)]
		if expected > most {
			want = nil // not even begun
		}
		if !bytes.Equal(b.Bytes(), want) {
			t.Fatalf("holds %d bytes, not the first %d", len(b.Bytes()), len(want))
		}
	})
}

// Bodies in flight share a bound. One that finds no memory is read to its end, counted,
// and not kept. What is released can be used again.
func TestBuffersShareMemory(t *testing.T) {
	g := NewWithT(t)
	const size = 8 << 20
	body, before := bytes.Repeat([]byte("x"), size), shared.Load()
	var inUse []*Buffer
	for i := range 20 {
		b := NewBuffer()
		inUse = append(inUse, b)
		g.Expect(b.Fill(bytes.NewReader(body), -1, size)).To(Succeed())
		g.Expect(b.Length()).To(BeEquivalentTo(size))
		g.Expect(len(b.Bytes()) == size).NotTo(Equal(b.Lost()))
		g.Expect(b.Lost() && i == 0 || !b.Lost() && i == 19).To(BeFalse())
	}
	g.Expect(shared.Load()).To(BeNumerically("<=", maxShared))
	for _, b := range inUse {
		b.Release()
	}
	g.Expect(shared.Load()).To(Equal(before))
}

func TestTheMemoTellsQuestionsApart(t *testing.T) {
	g := NewWithT(t)
	asked := answering(400, `{"statusCode":400,"error":"Bad Request","message":"no"}`)
	asked.Asked.Allowed = client.Allowed{} // it may be refused
	status := answering(500, emptyPage)
	contentType := answering(200, emptyPage)
	contentType.Header = http.Header{"Content-Type": {"text/plain"}}
	operation := answering(200, emptyPage)
	operation.Asked.Operation = spec.MustOperation(spec.ListLeadLabels)
	owner := answering(200, emptyPage)
	owner.Asked.Owner = "0198b3c0-0000-7000-8000-0000000000aa"
	open := answering(200, emptyPage)
	open.Asked.Allowed = client.AnyRefusal(http.StatusOK)
	r := inspected(newInspector(t, Options{}), asked,
		answering(400, `{"statusCode":400,"error":"Bad Request","message":"no"}`), answering(200, emptyPage), status, contentType, operation, owner, open)
	g.Expect(r.Judged).To(BeEquivalentTo(8))
	g.Expect(r.Known).To(BeZero())
	g.Expect(failed(r)["STATUS-200"].ViolationCount).To(Equal(2))
	g.Expect(failed(r)["CONTENT-TYPE"].ViolationCount).To(Equal(1))
}

func TestNoSecretsAreShown(t *testing.T) {
	g := NewWithT(t)
	const foreign = "secret-token-of-somebody-else"
	_, err := client.New(client.Options{BaseURL: "http://target.example", Keys: []client.Key{{Name: "other", Token: foreign}}})
	g.Expect(err).NotTo(HaveOccurred())
	bad := answering(500, "your key is "+token+", another is "+foreign)
	bad.Path += "&search=" + foreign
	r := inspected(newInspector(t, Options{}), bad)
	shown, err := json.Marshal(r.Checks)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(shown)).To(ContainSubstring("your key is"))
	g.Expect(string(shown)).NotTo(ContainSubstring(token))
	g.Expect(string(shown)).NotTo(ContainSubstring(foreign))
}

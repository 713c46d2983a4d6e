package client

import (
	"net/http"
	"testing"

	. "github.com/onsi/gomega"
)

// endless is a body without an end that counts what is read of it.
type endless struct{ read int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.read += int64(len(p))
	return len(p), nil
}

func (e *endless) Close() error { return nil }

// A body that is too long is neither read on nor kept: many come at once, and
// exchanges are held on to.
func TestWhatIsReadOfALongBody(t *testing.T) {
	const most = 1 << 20
	for name, tc := range map[string]struct{ length, read int64 }{
		"of unknown length":    {-1, most + 1},
		"that says its length": {most + 1, keptOfTooLong},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			body := &endless{}
			c, err := New(Options{BaseURL: "http://host", MaxBody: most, Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: body, ContentLength: tc.length, Request: r}, nil
			})})
			g.Expect(err).NotTo(HaveOccurred())
			e := c.Do(t.Context(), Request{Path: "/"})
			g.Expect(e.Err).NotTo(HaveOccurred())
			g.Expect(e.Truncated).To(BeTrue())
			g.Expect(body.read).To(Equal(tc.read))
			g.Expect(e.Body).To(HaveLen(keptOfTooLong))
			g.Expect(cap(e.Body)).To(BeNumerically("<", 2*keptOfTooLong))
		})
	}
}

package client

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"
)

// A container may write the keys that it received. They stay out of its log.
func TestRedactingWriterHidesTokens(t *testing.T) {
	const token = "s3cr3t/T0ken+of==main"
	var log strings.Builder
	out := RedactingWriter(&log, Redacting(func() []string { return []string{token} }))
	for _, said := range []string{
		"ready",
		"got Bearer " + token,
		"got " + base64.StdEncoding.EncodeToString([]byte("key:"+token)),
		"got " + url.QueryEscape(token),
		"got " + token[:12] + " … (long line truncated)",
		"got " + token[:12],
	} {
		line := fmt.Sprintf("target | %s\n", said)
		if n, err := out.Write([]byte(line)); n != len(line) || err != nil {
			t.Errorf("%q: wrote %d, error %v", said, n, err)
		}
	}
	const want = `target | ready
target | got Bearer [redacted]
target | got [redacted]
target | got [redacted]
target | got [redacted] … (long line truncated)
target | got [redacted]
`
	if log.String() != want {
		t.Errorf("the log is\n%s\nwant\n%s", log.String(), want)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestRedactingWriterReturnsWriteErrors(t *testing.T) {
	out := RedactingWriter(full{}, func(s string) string { return s })
	if n, err := out.Write([]byte("line\n")); n != 0 || !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("wrote %d, error %v", n, err)
	}
}

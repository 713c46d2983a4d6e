package target

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"

	"outreach.example/conformance/fixtures"
)

// Bounds of what is kept of the containers' words.
const (
	maxLineBytes = 16 << 10
	maxLogBytes  = 32 << 20
	keptLines    = 20 // of each container, for error messages
)

// A logbook takes the lines of all containers of a run, leaves out secrets and
// keeps the last ones. It is safe for concurrent use.
type logbook struct {
	secrets func() []string

	mu      sync.Mutex
	out     io.Writer
	written int
	last    map[string][]string      // by container
	ended   map[string]chan struct{} // by container; closed when it has said its last word
}

func newLogbook(out io.Writer, secrets func() []string) *logbook {
	if out == nil {
		out = io.Discard
	}
	return &logbook{secrets: secrets, out: out, last: map[string][]string{}, ended: map[string]chan struct{}{}}
}

// say enters a line of the harness's own.
func (l *logbook) say(format string, args ...any) { l.line("harness", fmt.Sprintf(format, args...)) }

// line enters a line. The log ends when it has grown too long; the last lines are kept on.
func (l *logbook) line(name, text string) {
	for _, secret := range l.secrets() {
		text = strings.ReplaceAll(text, secret, "[redacted]")
		text = strings.ReplaceAll(text, url.QueryEscape(secret), "[redacted]")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := append(l.last[name], text)
	l.last[name] = kept[max(0, len(kept)-keptLines):]
	if l.written > maxLogBytes {
		return
	}
	n, _ := fmt.Fprintf(l.out, "%s | %s\n", name, text) // a log that cannot be written fails no run
	if l.written += n; l.written > maxLogBytes {
		_, _ = fmt.Fprintf(l.out, "harness | the log ends here: it has more than %d bytes\n", maxLogBytes)
	}
}

// lastLines renders what a container wrote last, for an error message.
func (l *logbook) lastLines(name string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.last[name]) == 0 {
		return "; it wrote nothing"
	}
	return "; it wrote last:\n  " + strings.Join(l.last[name], "\n  ")
}

// from returns a writer that enters lines under the name.
func (l *logbook) from(name string) *lineWriter { return &lineWriter{book: l, name: name} }

// names returns the containers whose output is followed.
func (l *logbook) names() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.ended))
}

// wait waits until the named containers have said their last word, or the context ends.
func (l *logbook) wait(ctx context.Context, names ...string) {
	for _, name := range names {
		l.mu.Lock()
		ended := l.ended[name]
		l.mu.Unlock()
		if ended == nil {
			continue
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return
		}
	}
}

// follow returns a hook that reads a container's output from its start until it ends.
func (d *deployment) follow(name string) testcontainers.ContainerHook {
	return func(ctx context.Context, c testcontainers.Container) error {
		output, err := d.engine.api.ContainerLogs(context.WithoutCancel(ctx), c.GetContainerID(),
			client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Follow: true})
		if err != nil {
			d.log.say("the output of %s cannot be read: %v", name, err)
			return nil
		}
		ended := make(chan struct{})
		d.log.mu.Lock()
		d.log.ended[name] = ended
		d.log.mu.Unlock()
		go func() {
			defer close(ended)
			defer func() { _ = output.Close() }()
			stdout, stderr := d.log.from(name), d.log.from(name)
			if _, err := stdcopy.StdCopy(stdout, stderr, output); err != nil {
				d.log.say("the output of %s breaks off: %v", name, err)
			}
			stdout.flush()
			stderr.flush()
		}()
		return nil
	}
}

// lineWriter cuts a stream into lines. It is for one goroutine.
type lineWriter struct {
	book *logbook
	name string
	rest []byte
	cut  bool // the line at hand is too long and what is left of it is dropped
}

func (w *lineWriter) Write(p []byte) (int, error) {
	for remaining := p; len(remaining) > 0; {
		line, after, ended := bytes.Cut(remaining, []byte("\n"))
		remaining = after
		if room := maxLineBytes - len(w.rest); len(line) > room {
			line, w.cut = line[:room], true
		}
		w.rest = append(w.rest, line...)
		if ended {
			w.flush()
		}
	}
	return len(p), nil
}

// flush enters the line at hand, if there is one. Of a line that was cut the
// end goes too: it may be the beginning of a secret.
func (w *lineWriter) flush() {
	text := strings.TrimRight(string(w.rest), "\r")
	if w.cut {
		text = text[:len(text)/2] + " … (the rest of a long line is left out)"
	}
	if text != "" {
		w.book.line(w.name, text)
	}
	w.rest, w.cut = w.rest[:0], false
}

// secretName recognises environment variables whose values are nobody's business.
var secretName = regexp.MustCompile(`(?i)(pass|secret|token|key|credential)`)

// secretsOf returns what must not show in logs: the profile's tokens and what
// is handed to containers under a name that says so.
func secretsOf(profile *fixtures.Profile) func() []string {
	var handed []string
	note := func(environment map[string]string) {
		for name, value := range environment {
			const shortest = 6 // a shorter one would eat into ordinary words
			if secretName.MatchString(name) && len(value) >= shortest {
				handed = append(handed, value)
			}
		}
	}
	note(profile.Container.Environment)
	for _, s := range profile.Container.Services {
		note(s.Environment)
	}
	return func() []string { return append(profile.Secrets(), handed...) }
}

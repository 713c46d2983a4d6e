package target

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures"
)

func TestProbeNamesWhatItProbed(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "docker.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	there, nowhere := "unix://"+socket, "unix:///no/such/docker.sock"

	g := NewWithT(t)
	g.Expect(probe(t.Context(), "", []string{nowhere, there})).To(Equal(there), "the first that takes a connection")
	g.Expect(probe(t.Context(), there, nil)).To(Equal(there))
	for _, tc := range []struct {
		configured string
		usual      []string
		want       []string
	}{
		{nowhere, []string{there}, []string{nowhere, "unset DOCKER_HOST"}}, // another engine would be a surprise
		{"", []string{nowhere}, []string{nowhere, "set DOCKER_HOST"}},
		{"tcp://127.0.0.1:1", nil, []string{"tcp://127.0.0.1:1", "refused"}},
		{"ssh://host", nil, []string{`the scheme "ssh" is not supported`}},
		{"://", nil, []string{"no address of a Docker engine"}},
	} {
		_, err := probe(t.Context(), tc.configured, tc.usual)
		g.Expect(err).To(MatchError(ErrNoDocker))
		for _, want := range tc.want {
			g.Expect(err).To(MatchError(ContainSubstring(want)))
		}
	}
}

// Something that takes connections and never answers is no engine, which is said
// within the time for the whole question.
func TestSilentListenerIsNoEngine(t *testing.T) {
	g := NewWithT(t)
	g.Expect(probeTimeout).To(BeNumerically("<", 2*time.Second))
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = silent.Close() }()
	t.Setenv("DOCKER_HOST", "tcp://"+silent.Addr().String())
	_, err = connect(t.Context())
	g.Expect(err).To(MatchError(ErrNoDocker))
	g.Expect(err).To(MatchError(And(ContainSubstring(silent.Addr().String()), ContainSubstring("does not answer as Docker does"))))
}

func TestContainerSaysWhatIsMissing(t *testing.T) {
	g := NewWithT(t)
	_, err := Container(t.Context(), &fixtures.Profile{Name: "x"}, "run", nil)
	g.Expect(err).To(MatchError(ErrProfile))
	_, err = Container(t.Context(), &fixtures.Profile{Name: "x", Container: &fixtures.Deployment{}, TLS: &fixtures.TLS{CAFile: "/no/such.pem"}}, "run", nil)
	g.Expect(err).To(MatchError(And(ContainSubstring("tls.ca_file"), ContainSubstring("/no/such.pem"))))

	t.Setenv("DOCKER_HOST", "unix:///no/such/docker.sock")
	_, err = Container(t.Context(), &fixtures.Profile{Name: "x", Container: &fixtures.Deployment{}}, "run", nil)
	g.Expect(err).To(MatchError(ErrNoDocker))
	g.Expect(Sweep(t.Context())).To(MatchError(ErrNoDocker))
}

func TestLeftBehind(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)
	old, young := now.Add(-25*time.Hour).Format(time.RFC3339), now.Add(-time.Hour).Format(time.RFC3339)
	const nobody = 1 << 30 // beyond the highest process id
	for _, tc := range []struct {
		what, owner string
		want        bool
	}{
		{"this process", owner(now), false},
		{"this process, however old", fmt.Sprintf("%d@%s %s", os.Getpid(), machine(), old), false},
		{"a dead process of this machine", fmt.Sprintf("%d@%s %s", nobody, machine(), young), true},
		{"another machine, lately", "1@elsewhere " + young, false},
		{"another machine, long ago", "1@elsewhere " + old, true},
		{"a process of no machine", fmt.Sprintf("%d@ %s", nobody, young), false},
		{"no owner", "", false},
		{"no process", "x@" + machine() + " " + old, false},
		{"no time", "1@elsewhere", false},
	} {
		if got := leftBehind(tc.owner, now); got != tc.want {
			t.Errorf("%s (%q): left behind: %t", tc.what, tc.owner, got)
		}
	}
}

func TestLogbookKeepsSecretsOut(t *testing.T) {
	g := NewWithT(t)
	profile := &fixtures.Profile{
		Keys: []fixtures.Key{{Name: "main", Token: "to/ken"}},
		Container: &fixtures.Deployment{
			Container: fixtures.Container{Environment: map[string]string{"API_SECRET": "open sesame", "MODE": "verbose", "PASS": "a"}},
			Services:  []fixtures.Service{{Name: "db", Container: fixtures.Container{Environment: map[string]string{"POSTGRES_PASSWORD": "hunter22"}}}},
		},
	}
	var out bytes.Buffer
	book := newLogbook(&out, secretsOf(profile))
	w := book.from("db")
	for _, part := range []string{"a to/k", "en, to%2Fken\r\nopen ses", "ame as verbose\n\nhunter22"} { // lines come in pieces
		g.Expect(w.Write([]byte(part))).To(Equal(len(part)))
	}
	w.flush()
	g.Expect(out.String()).To(Equal("db | a [redacted], [redacted]\ndb | [redacted] as verbose\ndb | [redacted]\n"))
	g.Expect(book.lastLines("db")).To(HaveSuffix("\n  [redacted] as verbose\n  [redacted]"))
	g.Expect(book.lastLines("target")).To(Equal("; it wrote nothing"))
}

func TestLogbookIsBounded(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	book := newLogbook(&out, func() []string { return nil })
	w := book.from("target")
	long := strings.Repeat("x", 3*maxLineBytes) + "\n"
	for range 2 * maxLogBytes / maxLineBytes {
		_, _ = w.Write([]byte(long))
	}
	g.Expect(out.Len()).To(BeNumerically("~", maxLogBytes, 2*maxLineBytes))
	g.Expect(out.String()).To(HaveSuffix("bytes\n"))
	for i := range 3 * keptLines {
		book.line("target", fmt.Sprint(i))
	}
	g.Expect(book.last["target"]).To(HaveLen(keptLines))
	g.Expect(book.last["target"][keptLines-1]).To(Equal(fmt.Sprint(3*keptLines - 1)))
}

func TestLogThatCannotBeWrittenIsNoMatter(t *testing.T) {
	book := newLogbook(failing{}, func() []string { return nil })
	book.say("x")
	NewWithT(t).Expect(book.last["harness"]).To(ConsistOf("x"))
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("no space") }

func TestHoldsConnection(t *testing.T) {
	g := NewWithT(t)
	listen := func(serve func(net.Conn)) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		g.Expect(err).NotTo(HaveOccurred())
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
				go serve(conn)
			}
		}()
		return l.Addr().String()
	}
	ready := func(address string) bool {
		_, ok := holdsConnection(context.Background(), address)
		return ok
	}
	g.Expect(ready(listen(func(c net.Conn) { <-t.Context().Done(); _ = c.Close() }))).To(BeTrue(), "waits to be spoken to")
	g.Expect(ready(listen(func(c net.Conn) { _, _ = c.Write([]byte("220 ready")); <-t.Context().Done(); _ = c.Close() }))).To(BeTrue(), "speaks first")
	g.Expect(ready(listen(func(c net.Conn) { _ = c.Close() }))).To(BeFalse(), "a proxy without a server behind it")
	g.Expect(ready("127.0.0.1:1")).To(BeFalse())
}

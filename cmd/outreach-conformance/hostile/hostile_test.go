// Package hostile is a stand-in for targets that no one would write on purpose: a proxy
// around the reference server, which plays one hostile behaviour at a time.
//
// All lists the behaviours. Each class has a file, which is a table. An entry says what
// the server does, why that is hostile or which sentence allows it, and what a run must
// make of it. The tests of this package run the built program against each of them.
//
// It imports fixtures, spec and testbed, and judges nothing.
package hostile

import (
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
)

// Behaviour is one hostile behaviour of a target.
type Behaviour struct {
	Name string // class/what-it-does; permanent
	Doc  string // completes "the server …"
	Why  string // why it is hostile, or the sentence that allows it

	// Args are the command and its selection; nil judges the shapes and pages of one
	// list (Listing).
	Args    []string
	Verdict Verdict
	// Leaves says why rows of the run may remain on the target. The run must say that they
	// may, unless Hidden: the target gives no sign of them.
	Leaves string
	Hidden bool

	MiB int // resident memory; 0 for DefaultMiB

	// Play answers requests; next is the reference server. It is called once a run.
	Play func(next http.Handler) http.Handler
	// Wire replaces Play: it is given each connection, and closes it.
	Wire func(net.Conn)
}

// DefaultMiB is the bound of behaviours that set none.
const DefaultMiB = 256

// Class returns the kind of damage.
func (b Behaviour) Class() string {
	class, _, _ := strings.Cut(b.Name, "/")
	return class
}

// Verdict is what a run must end with.
type Verdict struct {
	Codes []int // exit codes, any of them
	// Fails are patterns (path.Match) of the requirements that may fail, and no other one
	// does. A requirement that the first pattern matches must fail.
	Fails []string
	Says  string // what the output or the results say; "" for anything
}

// Exit codes of the program.
const (
	exitPass         = 0
	exitFail         = 1
	exitUsage        = 2
	exitInconclusive = 3
)

func passes() Verdict                     { return Verdict{Codes: []int{exitPass}} }
func fails(requirement ...string) Verdict { return Verdict{Codes: []int{exitFail}, Fails: requirement} }

// inconclusive is the verdict on a target that gives no evidence. The run says why.
func inconclusive(says string) Verdict {
	return Verdict{Codes: []int{exitInconclusive}, Says: says}
}

// noFailure is the verdict on a target that breaks nothing but exceeds a bound of the
// harness: what it hides is not assessed.
func noFailure() Verdict { return Verdict{Codes: []int{exitPass, exitInconclusive}} }

// noPass is the verdict if the specification leaves open whether a server fails or
// gives no evidence. The patterns are those of fails.
func noPass(requirement ...string) Verdict {
	return Verdict{Codes: []int{exitFail, exitInconclusive}, Fails: requirement}
}

// anyVerdict is the verdict on a target whose connections carry what nobody asked for:
// chance decides whether a request takes it for its response.
var anyVerdict = Verdict{Codes: []int{exitPass, exitFail, exitInconclusive}, Fails: []string{"*"}}

// All returns every behaviour, by class.
func All() []Behaviour {
	return slices.Concat(transport(), statuses(), encodings(), jsons(), pages(), redirects(), timing(), state(), reportTexts(), keys())
}

// rows is the length of the reference server's lists: enough for several pages.
const rows = 60

// shown is how long a run waits for a change to show. The reference server shows each change
// at once, so a longer wait would see nothing more.
const shown = 200 * time.Millisecond

// Reference is a reference server for one run, and what the run must know of it.
type Reference struct {
	Handler http.Handler
	Profile *profile.Profile
	File    []byte    // with the profile
	Keys    KeySearch // finds the keys of the profile
	server  *refserver.Server
}

// idle are the servers that no run uses: resetting one is faster than loading another.
var idle struct {
	sync.Mutex
	servers []Reference
}

// NewReference returns a server with the data of the start. Release gives it back.
func NewReference() (Reference, error) {
	idle.Lock()
	defer idle.Unlock()
	if n := len(idle.servers); n > 0 {
		reference := idle.servers[n-1]
		idle.servers = idle.servers[:n-1]
		reference.server.Reset()
		return reference, nil
	}
	options := dataset.DefaultOptions()
	options.Rows = rows
	data, err := dataset.New(options)
	if err != nil {
		return Reference{}, err
	}
	server, err := refserver.New(data, refserver.Options{})
	if err != nil {
		return Reference{}, err
	}
	known := profile.FromDataset(data)
	known.VisibleWithin = shown
	file, err := known.YAML("")
	if err != nil {
		return Reference{}, err
	}
	return Reference{server.Handler(), known, file, NewKeySearch(known.Keys), server}, nil
}

// Release gives the server back.
func (r Reference) Release() {
	idle.Lock()
	defer idle.Unlock()
	idle.servers = append(idle.servers, r)
}

// Listen plays the behaviour in front of next on a port of the loopback interface. It
// returns the address, and what ends it. It calls stray with each request for another host
// or for a path outside the API, which no operation asks for.
func (b Behaviour) Listen(next http.Handler, stray func(*http.Request)) (address string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	address = "http://" + listener.Addr().String()
	if b.Wire != nil {
		go acceptAll(listener, b.Wire)
		return address, func() { _ = listener.Close() }, nil
	}
	play := b.Play(next)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != listener.Addr().String() || !strings.HasPrefix(r.URL.Path, refserver.BasePath+"/") {
			stray(r)
		}
		play.ServeHTTP(w, r)
	}), ErrorLog: log.New(io.Discard, "", 0), MaxHeaderBytes: 64 << 10}
	go func() { _ = server.Serve(listener) }() // it ends with an error when it is closed
	return address, func() { _ = server.Close() }, nil
}

func acceptAll(listener net.Listener, wire func(net.Conn)) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go wire(conn)
	}
}

// Command player plays any defect or quirk of this commit over HTTP, around the
// reference server of this commit. It listens on loopback and prints the address of its
// control port:
//
//	GET /faults                  lists what it plays, as JSON
//	POST /targets?fault=ID&rows=N starts a target and answers with a target profile of it
//	DELETE /targets?url=ADDRESS   ends it
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/suites/selftest/faults"
)

// Fault is a defect or, without a requirement, a quirk.
type Fault struct {
	ID          string `json:"id"`
	Requirement string `json:"requirement,omitempty"`
	Operation   string `json:"operation,omitempty"`
	Doc         string `json:"doc"`
	apply       func(*faults.Target) faults.Middleware
}

// visibility and concurrency are those of the self-test.
const (
	visibility  = 240 * time.Millisecond
	concurrency = 4
)

type player struct {
	faults []Fault

	mu      sync.Mutex
	idle    map[int][]*refserver.Server // by rows
	known   map[int]*profile.Profile
	targets map[string]func() // by address: ends the target
}

func main() {
	p := &player{idle: map[int][]*refserver.Server{}, known: map[int]*profile.Profile{}, targets: map[string]func(){}}
	for _, d := range faults.Defects() {
		p.faults = append(p.faults, Fault{d.ID, d.Breaks.Requirement, d.Breaks.Operation, d.Doc, d.Apply})
	}
	for _, q := range faults.Quirks() {
		p.faults = append(p.faults, Fault{ID: q.ID, Doc: q.Doc, apply: q.Apply})
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /faults", func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(p.faults) })
	mux.HandleFunc("POST /targets", p.start)
	mux.HandleFunc("DELETE /targets", p.end)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("http://" + listener.Addr().String())
	log.Fatal(http.Serve(listener, mux))
}

func (p *player) start(w http.ResponseWriter, r *http.Request) {
	rows, err := strconv.Atoi(r.FormValue("rows"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	for _, fault := range p.faults {
		if fault.ID != r.FormValue("fault") {
			continue
		}
		server, known, err := p.server(rows)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		handler := fault.apply(&faults.Target{Profile: known, Seed: 1})(faults.Serving(server.Handler()))
		target := httptest.NewServer(faults.Listening(handler))
		described := *known
		described.BaseURL = target.URL
		text, err := described.YAML("")
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		p.mu.Lock()
		p.targets[target.URL] = func() {
			target.CloseClientConnections()
			target.Close()
			server.Reset()
			p.mu.Lock()
			defer p.mu.Unlock()
			p.idle[rows] = append(p.idle[rows], server)
		}
		p.mu.Unlock()
		w.Header().Set("Location", target.URL)
		_, _ = w.Write(text)
		return
	}
	http.Error(w, "no such fault", http.StatusNotFound)
}

// server returns a reference server of that many rows in each list, as it is at its start.
func (p *player) server(rows int) (*refserver.Server, *profile.Profile, error) {
	p.mu.Lock()
	if n := len(p.idle[rows]); n > 0 {
		defer p.mu.Unlock()
		server := p.idle[rows][n-1]
		p.idle[rows] = p.idle[rows][:n-1]
		return server, p.known[rows], nil
	}
	p.mu.Unlock()
	options := dataset.DefaultOptions()
	options.Rows = rows
	data, err := dataset.New(options)
	if err != nil {
		return nil, nil, err
	}
	known := profile.FromDataset(data)
	known.VisibleWithin, known.Pace.Concurrency = visibility, concurrency
	server, err := refserver.New(data, refserver.Options{})
	if err != nil {
		return nil, nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known[rows] = known
	return server, known, nil
}

func (p *player) end(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	end := p.targets[r.FormValue("url")]
	delete(p.targets, r.FormValue("url"))
	p.mu.Unlock()
	if end == nil {
		http.Error(w, "no such target", http.StatusNotFound)
		return
	}
	end()
}

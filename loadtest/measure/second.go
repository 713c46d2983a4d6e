package measure

// second holds what a Recorder keeps of one second of the phase.
type second struct {
	sent, done, bytes int64
	statuses          []tally // the few that occur
	response          byClass // of the requests that were due in it
}

type tally struct {
	status int
	n      int64
}

func (s *second) count(status int) {
	for i := range s.statuses {
		if s.statuses[i].status == status {
			s.statuses[i].n++
			return
		}
	}
	s.statuses = append(s.statuses, tally{status, 1})
}

func (s *second) public(at int) Second {
	out := Second{At: at, Sent: s.sent, Done: s.done, Bytes: s.bytes,
		Statuses: make(map[int]int64, len(s.statuses)), Response: map[Class]Histogram{}}
	for i, c := range classes {
		if s.response[i].count > 0 {
			out.Response[c] = s.response[i].seal()
		}
	}
	for _, t := range s.statuses {
		out.Statuses[t.status] = t.n
	}
	return out
}

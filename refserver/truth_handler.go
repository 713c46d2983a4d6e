package refserver

import (
	"net/http"

	"outreach.example/conformance/refserver/store"
)

// TruthHandler serves what the service knows of itself, without authentication;
// it belongs on a port of its own:
//
//	GET  /truth        counts and latencies by operation, status and key
//	POST /truth/reset  forgets them
//	GET  /state        what the API cannot show: accounts and campaign variables
//	POST /reset        data and limiters back to the start, counts forgotten
//	GET  /healthz      200
func (s *Server) TruthHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /truth", func(w http.ResponseWriter, r *http.Request) {
		s.writeValue(w, r, s.counters.Report())
	})
	mux.HandleFunc("POST /truth/reset", func(w http.ResponseWriter, _ *http.Request) {
		s.counters.Reset()
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("GET /state", func(w http.ResponseWriter, r *http.Request) {
		s.writeValue(w, r, s.current.Load().state())
	})
	mux.HandleFunc("POST /reset", func(w http.ResponseWriter, _ *http.Request) {
		s.Reset()
		s.counters.Reset()
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("GET /healthz", serveHealth)
	return mux
}

func (s *Server) writeValue(w http.ResponseWriter, r *http.Request, v any) {
	doc, err := render(v)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, doc)
}

// State is the answer of GET /state.
type State struct {
	Accounts          map[string][]string `json:"accounts"`           // workspace id → addresses, sorted
	CampaignVariables map[string][]string `json:"campaign_variables"` // campaign id → names as added; only campaigns that have some
}

func (w *world) state() State {
	state := State{Accounts: w.accounts.list(), CampaignVariables: map[string][]string{}}
	for _, ws := range w.byID {
		for row := range ws.campaigns.Snapshot().Ascend(store.Position{}) {
			if len(row.Attrs.variables) > 0 {
				state.CampaignVariables[row.ID] = row.Attrs.variables
			}
		}
	}
	return state
}

package explore

import (
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
	"outreach.example/conformance/suites/explore/sequence"
)

// hunt looks for cases that show a violation: of any requirement that is not reported
// yet, and once it has found one, of that requirement only.
type hunt struct {
	*explorer
	target spec.Pair
	last   Found
}

// shows tries the case and reports whether it shows the violation. It keeps the case if
// it does.
func (h *hunt) shows(c Case) bool {
	if h.ctx.Err() != nil {
		return false
	}
	c, trial := h.play(c, uint64(h.trials.Add(1)))
	for _, broken := range trial.Broken {
		if !h.wants(broken.Pair) {
			continue
		}
		h.target = broken.Pair
		h.last = foundIn(c, trial, broken)
		return true
	}
	return false
}

// wants reports whether a violation of the requirement is what the hunt looks for.
func (h *hunt) wants(p spec.Pair) bool {
	if h.target != (spec.Pair{}) {
		return p == h.target
	}
	return !h.isKnown(p)
}

// play tries the case. It returns the case without the steps after the violation.
func (h *hunt) play(c Case, seed uint64) (Case, suites.Trial) {
	switch {
	case c.List != nil:
		h.tried.Add(1)
		return c, h.try("queries "+c.List.Operation, seed, h.query(*c.List))
	case c.Get != nil:
		h.tried.Add(1)
		return c, h.try("gets a test", seed, h.get(*c.Get))
	}
	if sequence.UsesListed(c.Steps) {
		h.listed.Lock()
		defer h.listed.Unlock()
	}
	if !sequence.Spends(c.Steps) {
		return h.sequence(c.Steps, seed, h.wants)
	}
	if h.spent == nil { // at most once, however often its case is looked at
		_, trial := h.sequence(c.Steps, seed, func(spec.Pair) bool { return false })
		h.spent = &trial
		if w := h.find(List{Operation: spec.ListSubsequences, Role: roles[0]}); w != nil {
			h.read(w) // no other program deleted it
		}
	}
	return c, *h.spent
}

// sequence plays the steps until they show a violation of a wanted requirement.
func (e *explorer) sequence(steps []sequence.Step, seed uint64, wanted func(spec.Pair) bool) (Case, suites.Trial) {
	e.sequenced.Add(1)
	played := len(steps)
	trial := e.try("plays a sequence", seed, func(api *suites.API) {
		if n := sequence.Play(api, steps, func() bool { return api.Broke(wanted) }); n > 0 {
			played = n
		}
	})
	return Case{Steps: steps[:played]}, trial
}

// foundIn returns the case with the violation that its trial showed.
func foundIn(c Case, trial suites.Trial, b suites.Broken) Found {
	requests := trial.Shown(b)
	if n := len(requests); sequence.Spends(c.Steps) && n > 2 { // the first one deletes, and the last one shows the violation
		requests = []string{requests[0], requests[n-1]}
	}
	return Found{Requirement: b.Pair.Requirement, Operation: b.Pair.Operation, Case: c, Violation: b.Violation, Requests: requests}
}

// settle makes the case shorter, tries it once more and reports it.
func (h *hunt) settle(seed uint64) {
	h.last.Seed = seed
	if !sequence.Spends(h.last.Case.Steps) {
		h.shorten()
		again := &hunt{explorer: h.explorer, target: h.target}
		h.last.Seed, h.last.Again = seed, again.shows(h.last.Case)
	}
	h.report(h.last)
}

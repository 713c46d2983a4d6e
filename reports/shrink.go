package reports

// Shrink returns the results with fewer details of violations, until they fit. It drops
// those that help least first: bodies and exchanges, then commands, violations, missing
// inputs, observations and troubles. Each failed check keeps its first violation.
func Shrink(r Results, fits func(Results) bool) Results {
	for _, change := range []func(v *Violation, i int) (keep bool){
		func(v *Violation, i int) bool { v.Body = onlyFirst(v.Body, i); return true },
		func(v *Violation, _ int) bool { v.Exchange = nil; return true },
		func(v *Violation, _ int) bool { v.Body = ""; return true },
		func(v *Violation, i int) bool { v.Curl = onlyFirst(v.Curl, i); return true },
		func(_ *Violation, i int) bool { return i == 0 },
		func(v *Violation, _ int) bool { v.Curl = ""; return true },
	} {
		if fits(r) {
			return r
		}
		r = r.WithViolations(change)
	}
	for ; !fits(r) && len(r.Observations)+len(r.Troubles) > 1; r.Troubles = r.Troubles[:(len(r.Troubles)+1)/2] {
		for i := range r.Checks { // a copy since the first change
			r.Checks[i].Missing = r.Checks[i].Missing[:min(len(r.Checks[i].Missing), 1)]
		}
		r.Observations = r.Observations[:len(r.Observations)/2]
	}
	return r
}

func onlyFirst(text string, i int) string {
	if i == 0 {
		return text
	}
	return ""
}

// WithViolations returns a copy of r whose violations are changed. The i-th of a check
// is left out if change returns false.
func (r Results) WithViolations(change func(v *Violation, i int) (keep bool)) Results {
	checks := make([]Check, len(r.Checks))
	for c, check := range r.Checks {
		var kept []Violation
		for i, v := range check.Violations {
			if change(&v, i) {
				kept = append(kept, v)
			}
		}
		check.Violations = kept
		checks[c] = check
	}
	r.Checks = checks
	return r
}

// TextBytes returns the length of the texts that a target can influence.
func (r Results) TextBytes() int {
	n := 0
	for _, c := range r.Checks {
		for _, v := range c.Violations {
			n += len(v.Pointer) + len(v.Expected) + len(v.Actual) + len(v.Curl) + len(v.Body) + v.Exchange.textBytes()
		}
		for _, missing := range c.Missing {
			n += len(missing)
		}
	}
	for _, o := range r.Observations {
		n += len(o.Value)
	}
	for _, t := range r.Troubles {
		n += len(t.What)
	}
	return n
}

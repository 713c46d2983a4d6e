package faults

import (
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"outreach.example/conformance/spec"
)

// rateDefects answer with a status other than 429 beyond the rate limit, or
// keep refusing after its period.
func rateDefects() []Defect {
	defects := append(resumptionDefects(), carriedOutLater()...) // first, because they take longest
	for _, op := range spec.Operations() {
		for _, status := range []int{http.StatusForbidden, http.StatusServiceUnavailable} {
			defects = append(defects, beyondLimit(op.ID, "limit-"+strconv.Itoa(status),
				"answers "+strconv.Itoa(status)+" beyond the rate limit", func(*Target) behaviour { return refusing(status) }))
		}
		if canBeExceededAlone(op) {
			defects = append(defects,
				beyondLimit(op.ID, "limit-ignored", "keeps serving beyond the rate limit", (*Target).standIn),
				beyondLimit(op.ID, "limit-tenfold", "serves ten times its stated rate limit", servingTenfold))
		}
		if !op.Unsafe() {
			defects = append(defects, beyondLimit(op.ID, "limit-403-every-other", "answers every other request beyond the rate limit with 403",
				refusingEveryOther))
		}
	}
	return defects
}

// canBeExceededAlone reports whether a suite can exceed a limit with the
// operation's own requests. It has too few valid account moves and deletions.
func canBeExceededAlone(op spec.Operation) bool {
	return op.ID != spec.MoveAccounts && op.Method != http.MethodDelete
}

// beyondLimit returns the defect of changing the operation's 429 answers.
func beyondLimit(operation, damage, doc string, act func(*Target) behaviour) Defect {
	return Defect{
		ID: operation + "/" + damage, Breaks: spec.Pair{Requirement: "RATE-429", Operation: operation}, Doc: doc,
		Apply: func(a *Target) Middleware {
			instead := act(a)
			return func(next Handler) Handler {
				return func(r Request) (Response, error) {
					answer, err := next(r)
					if err != nil || r.Operation != operation || answer.Status != http.StatusTooManyRequests {
						return answer, err
					}
					return instead(next, r)
				}
			}
		},
	}
}

func tooMany(Handler, Request) (Response, error) {
	answer := refusal(http.StatusTooManyRequests)
	answer.Header.Set("Retry-After", "1")
	return answer, nil
}

// servingTenfold serves up to ten times the stated limit.
func servingTenfold(a *Target) behaviour {
	serve := a.standIn()
	var left atomic.Int64
	if promise := a.Profile.RateLimit; promise != nil {
		left.Store(int64(9 * promise.Requests))
	}
	return func(next Handler, r Request) (Response, error) {
		if left.Add(-1) >= 0 {
			return serve(next, r)
		}
		return tooMany(next, r)
	}
}

func refusingEveryOther(*Target) behaviour {
	var beyond atomic.Int64
	return func(next Handler, r Request) (Response, error) {
		if beyond.Add(1)%2 == 1 {
			return refusal(http.StatusForbidden), nil
		}
		return tooMany(next, r)
	}
}

// resumptionDefects block a key on an operation forever once it has exceeded
// its limit.
func resumptionDefects() []Defect {
	shutOut := func(operation, damage, doc string, act behaviour) Defect {
		return Defect{
			ID: operation + "/" + damage, Breaks: spec.Pair{Requirement: "RATE-RESUMES", Operation: operation}, Doc: doc,
			Apply: func(*Target) Middleware { return afterLimit(operation, act) },
		}
	}
	// A suite waits long before it gives up on 429, so one operation stands for
	// all.
	defects := []Defect{shutOut(spec.ListPlacementTests, forEver, "answers 429 forever to a key that exceeded its limit once",
		tooMany)}
	for _, op := range spec.Operations() {
		if op.Answer != spec.One {
			defects = append(defects, shutOut(op.ID, "shut-out", "answers 403 forever to a key that exceeded its limit once",
				refusing(http.StatusForbidden)))
		}
	}
	return defects
}

// forEver is the damage that a run sees only once its patience with 429 has ended.
const forEver = "limit-for-ever"

// Long reports whether a run takes a minute to see the defect. A self-test tries it first,
// so that its end does not wait for it.
func (d Defect) Long() bool { return d.ID == defectID(spec.ListPlacementTests, forEver) }

// afterLimit applies a behaviour to the operation's requests with keys that got
// 429 on any operation before.
func afterLimit(operation string, b behaviour) Middleware {
	return func(next Handler) Handler {
		var exceeded sync.Map // by token
		return func(r Request) (Response, error) {
			if _, before := exceeded.Load(r.token()); before && r.Operation == operation {
				return b(next, r)
			}
			answer, err := next(r)
			if err == nil && answer.Status == http.StatusTooManyRequests {
				exceeded.Store(r.token(), true)
			}
			return answer, err
		}
	}
}

// carriedOutLater returns the defects of carrying out a change that the limit refused, once
// the limit's period has passed.
func carriedOutLater() []Defect {
	var defects []Defect
	for _, d := range []struct{ operation, damage, doc string }{
		{spec.CreatePlacementTest, "limit-refused-but-created", "answers 429 to a creation beyond the rate limit, and creates the test later"},
		{spec.DeletePlacementTest, "limit-refused-but-deleted", "answers 429 to a deletion beyond the rate limit, and deletes the test later"},
		{spec.DeleteSubsequence, "limit-refused-but-deleted", "answers 429 to a deletion beyond the rate limit, and deletes the subsequence later"},
		{spec.MoveAccounts, "limit-refused-but-moved", "answers 429 to a move beyond the rate limit, and moves the accounts later"},
	} {
		defects = append(defects, breaking("RATE-NO-EFFECT", d.operation, d.damage, d.doc, keeping(d.operation)))
	}
	return defects
}

// keeping carries out a request of the operation that was answered 429 before the next
// page for its key.
func keeping(operation string) Middleware {
	return func(next Handler) Handler {
		var refused sync.Map // requests, by token
		return func(r Request) (Response, error) {
			answer, err := next(r)
			op, _ := spec.FindOperation(r.Operation)
			switch {
			case err != nil:
			case r.Operation == operation && answer.Status == http.StatusTooManyRequests:
				refused.Store(r.token(), r)
			case op.Answer == spec.Page && answer.Status == http.StatusOK:
				kept, ok := refused.LoadAndDelete(r.token())
				if !ok {
					break
				}
				if _, err := next(kept.(Request)); err != nil {
					return Response{}, err
				}
				return next(r)
			}
			return answer, err
		}
	}
}

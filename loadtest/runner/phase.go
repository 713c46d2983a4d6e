package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/measure"

	"outreach.example/conformance/loadtest/verdict"
)

// betweenShards is the pause between two phases of several processes. Responses of
// the first may still be on their way.
const betweenShards = 2 * time.Second

// begin returns when the next phase, of that length, starts. Zero means now.
func (r *runner) begin(lasts time.Duration) time.Time {
	if r.env.Start.IsZero() {
		return time.Time{}
	}
	start := r.env.Start
	r.env.Start = start.Add(lasts + betweenShards)
	return start
}

// schedule returns the schedule of each phase.
func (r *runner) schedule() measure.Schedule {
	each, _ := r.scenario.Schedule()
	return each
}

// warmUp sends requests that change nothing and do not count.
func (r *runner) warmUp(limit int) error {
	if r.scenario.Warmup == 0 {
		return nil
	}
	rec, err := r.send("warm-up", measure.Constant(r.scenario.Rate, r.scenario.Warmup), r.mix.Reading(limit), true)
	r.draft.NoteFirst(r.outageNotes...)
	r.draft.Uses.WarmUp += rec.Sent
	return err
}

// getReady stocks the first phase and warms up, in this order: the phases of shards begin at
// fixed times, shortly after each other.
func (r *runner) getReady(limit int) error {
	warmUp := r.env.Part(measure.Constant(r.scenario.Rate, r.scenario.Warmup)).Planned()
	if err := r.env.Budget.Take(warmUp); err != nil { // or the phase might be stocked in vain
		return err
	}
	err := r.stock(r.schedule())
	r.env.Budget.GiveBack(warmUp)
	if err != nil {
		return err
	}
	r.stocked = true
	return r.warmUp(limit)
}

// farAhead is the least wait for a start that is announced.
const farAhead = 5 * time.Second

// send sends a phase, or this process's shard of it, and returns the recording.
func (r *runner) send(name string, whole measure.Schedule, mix generate.Mix, warmUp bool) (measure.Recording, error) {
	r.outageNotes = nil
	mine := r.env.Part(whole)
	if err := r.permit(whole); err != nil {
		return measure.Recording{}, err
	}
	if err := r.env.Budget.Take(mine.Planned()); err != nil {
		return measure.Recording{}, err
	}
	r.env.Watch(r.scenario.Name, name)
	p := generate.Phase{Name: name, Schedule: mine, Mix: mix, Start: r.begin(whole.Duration()), Warmup: warmUp, Inspect: r.inspector.Take, Live: r.env.Live,
		LateTolerance: max(generate.DefaultLateTolerance, r.env.LagLimit)} // what may go out late is sent and not dropped
	if ahead := time.Until(p.Start); ahead > farAhead {
		r.env.Say(fmt.Sprintf("%s: %s starts at %s, in %s", r.scenario.Name, name, p.Start.UTC().Format(time.RFC3339), ahead.Round(time.Second)))
	}
	rec, outages, err := r.env.Generator.Run(r.ctx, p)
	r.outageNotes = r.outages(name, outages)
	r.env.Budget.GiveBack(mine.Planned() - rec.Sent)
	r.draft.Count(rec)
	return rec, r.cutShort(name, rec, err)
}

// cutShort returns why a phase did not run to its end, and how far it came.
func (r *runner) cutShort(name string, rec measure.Recording, err error) error {
	var dead *client.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &dead):
		return fmt.Errorf("%s was given up after %s of %s requests: %w", name, printable.Number(rec.Sent), printable.Number(rec.Planned()), dead)
	case r.ctx.Err() != nil:
		return fmt.Errorf("%s was interrupted after %s of %s requests: %w", name, printable.Number(rec.Sent), printable.Number(rec.Planned()), context.Cause(r.ctx))
	default:
		return err
	}
}

// permit returns an error if the schedule exceeds the profile's maximum rate.
func (r *runner) permit(whole measure.Schedule) error {
	for _, s := range whole.Segments {
		if most := r.env.MaxRate; most > 0 && s.Rate > most {
			return fmt.Errorf("%v requests a second exceed the profile's maximum of %v (load.max_rate)", s.Rate, most)
		}
	}
	return nil
}

// count sends a phase that belongs to the scenario's figures. No phase is sent twice: a
// server that stalls makes the generator late, and a second measurement would hide that.
func (r *runner) count(name string, whole measure.Schedule, mix generate.Mix) (measure.Recording, error) {
	if !r.stocked {
		if err := r.stock(whole); err != nil {
			return measure.Recording{}, err
		}
	}
	r.stocked = false
	rec, err := r.send(name, whole, mix, false)
	r.draft.NoteFirst(r.outageNotes...)
	r.places += uint64(whole.Planned())
	if err == nil && silent(rec) {
		err = fmt.Errorf("%s: the target has stopped responding (%s); the scenario was given up", rec.Name, verdict.Endings(rec))
	}
	r.draft.Keep(rec, err)
	return rec, err
}

// silent reports whether requests were sent and none got a response.
func silent(rec measure.Recording) bool { return rec.Sent > 0 && rec.Statuses[0] == rec.Sent }

// stock prepares the changes of a phase. One that may not be sent needs none.
func (r *runner) stock(whole measure.Schedule) error {
	if err := r.permit(whole); err != nil {
		return err
	}
	notes, err := r.mix.Stock(r.ctx, whole, r.places, r.check)
	for _, note := range notes {
		if !slices.Contains(r.draft.Result.Notes, note) {
			r.draft.Note("%s", note)
		}
	}
	return err
}

// outages describes when the target answered nothing in a phase. It tells a
// dead target from one that loses a few requests all the time.
func (r *runner) outages(phase string, s client.Outages) (said []string) {
	if of := r.env.Shard.Of; of > 1 {
		phase = fmt.Sprintf("shard %d: %s", r.env.Shard.Index+1, phase)
	}
	if s.Ended > 0 {
		text := fmt.Sprintf("%s: no responses from %s to %s after its start (%s requests unanswered)",
			phase, printable.Seconds(s.Longest.From), printable.Seconds(s.Longest.To), printable.Number(s.Longest.Unanswered))
		if s.Ended > 1 {
			text += fmt.Sprintf("; the longest of %d outages", s.Ended)
		}
		said = append(said, text)
	}
	// An interruption may have cut off answers, so it is no outage.
	if s.Last != nil && r.ctx.Err() == nil {
		said = append(said, fmt.Sprintf("%s: no responses from %s after its start to the end (%s requests unanswered)",
			phase, printable.Seconds(s.Last.From), printable.Number(s.Last.Unanswered)))
	}
	return said
}

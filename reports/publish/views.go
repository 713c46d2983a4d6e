package publish

import (
	"errors"
	"io"
	"slices"

	"outreach.example/conformance/reports"

	"outreach.example/conformance/reports/diff"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/view"
)

// Views write the results of a command, by the name of the format. Code is the exit code of
// the process.
type Views map[string]func(w io.Writer, code int) error

// Kind picks the view of one kind of results.
type Kind[T any] func(view.Format) view.View[T]

// The kinds of results.
var (
	OfRun        Kind[reports.Results] = func(f view.Format) view.View[reports.Results] { return f.Run }
	OfLoad       Kind[load.Results]    = func(f view.Format) view.View[load.Results] { return f.Load }
	OfDifference Kind[diff.Difference] = func(f view.Format) view.View[diff.Difference] { return f.Difference }
)

// Names returns the formats that show one kind of results, the console first.
func (kind Kind[T]) Names() []string {
	var others []string
	for name, f := range view.Formats {
		if kind(f) != nil && name != Console {
			others = append(others, name)
		}
	}
	slices.Sort(others)
	return append([]string{Console}, others...)
}

// Views returns the views of results.
func (kind Kind[T]) Views(results T, o view.Options) Views {
	all := Views{}
	for name, f := range view.Formats {
		if show := kind(f); show != nil {
			all[name] = func(w io.Writer, code int) error {
				on := view.On(w)
				o.Color, o.Width, o.ExitCode = on.Color, on.Width, code
				return show(w, results, o)
			}
		}
	}
	return all
}

// Then returns the views with those formats followed by the other's, that both have and a
// person reads as one text. Annotations stay as they are: the verdict's has the reasons.
func (v Views) Then(other Views) Views {
	for _, name := range []string{Console, "markdown"} {
		first, second := v[name], other[name]
		v[name] = func(w io.Writer, code int) error { return errors.Join(first(w, code), second(w, code)) }
	}
	return v
}

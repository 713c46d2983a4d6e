package view

import (
	"embed"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"text/template"

	"outreach.example/conformance/internal/printable"
)

//go:embed *.tmpl
var texts embed.FS

// textTemplates are the templates of texts. The functions of a screen replace those that they
// are parsed with.
var textTemplates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(newScreen(Options{}, nil).functions()).ParseFS(texts, "*.tmpl"))
})

// textView returns the view that writes what the template lays out.
func textView[T any](name string) View[T] {
	return func(w io.Writer, results T, o Options) error {
		s := screenFor(clean(o))
		content, err := s.include(name, clean(results))
		if err != nil {
			return err
		}
		if !strings.HasPrefix(name, "console") {
			s.width = 0
		}
		_, err = io.WriteString(w, s.layout(content))
		return err
	}
}

// screen is what a text is laid out for.
type screen struct {
	Options
	paint  Paint
	width  int  // 0: lines do not wrap
	marked bool // a percentile is shown as an interval
	all    *template.Template
}

func newScreen(o Options, t *template.Template) *screen {
	if o.Width == 0 {
		o.Width = DefaultWidth
	}
	return &screen{Options: o, paint: Paint(o.Color), width: max(o.Width, MinWidth), all: t}
}

// screenFor returns a screen with the templates of texts, which show for it.
func screenFor(o Options) *screen {
	t := template.Must(textTemplates().Clone())
	s := newScreen(o, t)
	t.Funcs(s.functions())
	return s
}

// include returns what a template writes.
func (s *screen) include(name string, data any) (string, error) {
	var b strings.Builder
	if err := s.all.ExecuteTemplate(&b, name, data); err != nil {
		return "", fmt.Errorf("text: %w", err)
	}
	return b.String(), nil
}

// Signs in the text of a template. No text of a target holds them.
const (
	br   = "\x01" // an empty line: others are dropped, so that a template can have lines of its own
	keep = "\x02" // begins a line that does not wrap, such as a command to copy
)

// layout wraps the lines of a template. What stands before a tab is a label; the text wraps
// beside it.
func (s *screen) layout(content string) string {
	var b strings.Builder
	write := func(parts ...string) {
		b.WriteString(strings.TrimRight(strings.Join(parts, ""), " ") + "\n")
	}
	for line := range strings.SplitSeq(content, "\n") {
		kept, is := strings.CutPrefix(line, keep)
		switch label, rest, labelled := strings.Cut(line, "\t"); {
		case strings.TrimSpace(line) == "":
		case line == br:
			write()
		case is, s.width == 0:
			write(kept)
		default:
			if !labelled {
				rest = strings.TrimLeft(line, " ")
				label = line[:len(line)-len(rest)]
			}
			name := strings.TrimSpace(label)
			margin := strings.Repeat(" ", Width(label))
			for i, wrapped := range wrap(strings.TrimRight(rest, " "), s.width-len(margin)) {
				if i == 0 && name != "" {
					wrapped = strings.Replace(label, name, s.paint.dim(name), 1) + wrapped
				} else {
					wrapped = margin + wrapped
				}
				write(wrapped)
			}
		}
	}
	return b.String()
}

// label returns a label with a column for its text. One that is too long has a line of its own.
func (s *screen) label(indent, column int, text string) string {
	margin := strings.Repeat(" ", indent)
	room := column - Width(text)
	if room < gap {
		return margin + s.paint.dim(text) + "\n" + margin + strings.Repeat(" ", column) + "\t"
	}
	return margin + text + strings.Repeat(" ", room) + "\t"
}

// flow returns the lines of a text as parts of lines that fit beside a margin.
func (s *screen) flow(margin int, separator, content string) []string {
	parts := strings.FieldsFunc(content, func(r rune) bool { return r == '\n' })
	return Flow(parts, separator, s.width-margin)
}

// lines wraps a text.
func (s *screen) lines(margin int, content string) []string {
	return wrap(strings.TrimSpace(content), s.width-margin)
}

// first returns the first n entries of a list, and left the number of the others. Verbose shows all.
func (s *screen) first(n int, list any) any {
	v := reflect.ValueOf(list)
	return v.Slice(0, v.Len()-s.left(n, list)).Interface()
}

func (s *screen) left(n int, list any) int {
	if s.Verbose {
		return 0
	}
	return max(0, reflect.ValueOf(list).Len()-n)
}

// more says how many of something are not shown, and where they are; "" for none. The noun takes an s in the
// plural, unless it ends in a colon or has a bracket.
func (s *screen) more(n int, noun string) string {
	if n == 0 {
		return ""
	}
	if n > 1 && !strings.ContainsAny(noun, "(:") {
		noun += "s"
	}
	said := strings.TrimSpace(fmt.Sprintf("… and %s more %s", printable.Number(n), strings.TrimSuffix(noun, ":")))
	if s.ResultsPath != "" {
		said += " in " + s.ResultsPath
	}
	return s.paint.dim(said)
}

// cut shortens a text to the rest of a line.
func (s *screen) cut(margin int, text string) string { return Cut(text, s.width-margin) }

// brief shortens a text, unless Verbose is set.
func (s *screen) brief(columns int, text string) string {
	if s.Verbose {
		return text
	}
	return Cut(text, columns)
}

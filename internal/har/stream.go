package har

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// MaxEntry is the maximum length of an entry in bytes.
const MaxEntry = 64 << 20

// Writer writes an archive entry by entry.
type Writer struct {
	to    io.Writer
	begun bool
	head  string
	err   error
}

// NewWriter returns a writer of an archive that the program creates.
func NewWriter(to io.Writer, program, version string) *Writer {
	creator, _ := json.Marshal(map[string]string{"name": program, "version": version}) // strings can be encoded
	return &Writer{to: to, head: `{"log":{"version":"1.2","creator":` + string(creator) + `,"entries":[`}
}

// Add adds an encoded entry.
func (w *Writer) Add(entry []byte) {
	before := ",\n"
	if !w.begun {
		before, w.begun = w.head+"\n", true
	}
	w.write(before)
	w.write(string(entry))
}

func (w *Writer) write(text string) {
	if w.err == nil {
		_, w.err = io.WriteString(w.to, text)
	}
}

// Close ends the archive with more members of the log, and returns the first error.
func (w *Writer) Close(members map[string]any) error {
	if !w.begun {
		w.write(w.head)
	}
	w.write("\n]")
	for _, name := range slices.Sorted(maps.Keys(members)) {
		value, err := json.Marshal(members[name])
		if w.err == nil {
			w.err = err
		}
		w.write(fmt.Sprintf(",\n%q:%s", name, value))
	}
	w.write("}}\n")
	return w.err
}

// Read calls the function with each entry of the archive, and with its text. Its error says at which
// byte or entry the archive cannot be read.
func Read(from io.Reader, each func(e Entry, text json.RawMessage) error, last func(member string, value json.RawMessage) error) error {
	bounded := &bounded{from: from}
	d := json.NewDecoder(bounded)
	bounded.left = MaxEntry
	if err := into(d, "log"); err != nil {
		return err
	}
	if err := into(d, "entries"); err != nil {
		return err
	}
	if open, err := d.Token(); err != nil || open != json.Delim('[') {
		return fmt.Errorf("byte %d: log.entries: want an array: %w", d.InputOffset(), orNil(err))
	}
	n := 0
	for ; d.More(); n++ {
		bounded.left = MaxEntry
		var e Entry
		var text json.RawMessage
		err := d.Decode(&text)
		if err == nil {
			err = json.Unmarshal(text, &e)
		}
		if err != nil && !ofOthers(err) {
			return fmt.Errorf("entry %d, byte %d: %w", n, d.InputOffset(), err)
		}
		if err := each(e, text); err != nil {
			return fmt.Errorf("entry %d: %w", n, err)
		}
	}
	_, err := d.Token()
	for err == nil && d.More() {
		bounded.left = MaxEntry
		var member json.Token
		var value json.RawMessage
		if member, err = d.Token(); err == nil {
			err = d.Decode(&value)
		}
		if err == nil {
			err = last(fmt.Sprint(member), value)
		}
	}
	if err == nil {
		_, err = d.Token()
	}
	for err == nil && d.More() { // members beside the log
		if _, err = d.Token(); err == nil {
			var skipped json.RawMessage
			err = d.Decode(&skipped)
		}
	}
	if err == nil {
		_, err = d.Token()
	}
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("want nothing after the archive")
		}
	}
	if err != nil {
		return fmt.Errorf("after entry %d, byte %d: %w (the file may be cut off)", n, d.InputOffset(), err)
	}
	return nil
}

// ofOthers reports whether the error is about a member that another program has added: the
// format leaves names with an underscore to everybody.
func ofOthers(err error) bool {
	wrong := (*json.UnmarshalTypeError)(nil)
	return errors.As(err, &wrong) && strings.HasPrefix(wrong.Field, "_")
}

func orNil(err error) error {
	if err == nil {
		return errors.New("another value")
	}
	return err
}

// into reads up to the value of the member in the object that begins, and skips the members
// before it.
func into(d *json.Decoder, name string) error {
	open, err := d.Token()
	if err == nil && open != json.Delim('{') {
		err = errors.New("want an object")
	}
	for err == nil && d.More() {
		var member json.Token
		if member, err = d.Token(); err != nil {
			break
		}
		if member == name {
			return nil
		}
		var skipped json.RawMessage
		err = d.Decode(&skipped)
	}
	if err == nil {
		err = fmt.Errorf("no member %q", name)
	}
	return fmt.Errorf("byte %d: %w (want a HAR file: {\"log\": {\"entries\": […]}})", d.InputOffset(), err)
}

// bounded ends a read that is too long for one entry.
type bounded struct {
	from io.Reader
	left int

	text, escaped bool // within a string; after a backslash
	blanks        int  // white space in a row, outside strings
}

// maxBlanks bounds white space: the decoder looks at it again and again.
const maxBlanks = 64 << 10

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("an entry is longer than %d MiB", MaxEntry>>20)
	}
	n, err := b.from.Read(p)
	b.left -= n
	for _, c := range p[:n] {
		switch {
		case b.escaped:
			b.escaped = false
		case b.text:
			b.escaped, b.text = c == '\\', c != '"'
		case c == ' ' || c == '\n' || c == '\r' || c == '\t':
			if b.blanks++; b.blanks > maxBlanks {
				return 0, fmt.Errorf("more than %d KiB of white space", maxBlanks>>10)
			}
		default:
			b.blanks, b.text = 0, c == '"'
		}
	}
	return n, err
}

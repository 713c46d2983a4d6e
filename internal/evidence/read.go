package evidence

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxEntry is the maximum length of an entry in bytes.
const maxEntry = 64 << 20

// Read calls the function with each entry of the archive. Its error says at which byte or entry the
// archive cannot be read.
func Read(from io.Reader, each func(Entry) error) error {
	bounded := &bounded{from: from, left: maxEntry}
	d := json.NewDecoder(bounded)
	for _, name := range []string{"log", "entries"} {
		open, err := d.Token()
		if err == nil && open != json.Delim('{') {
			err = errors.New("want an object")
		}
		if err == nil {
			err = skipTo(d, name)
		}
		if err == nil && !d.More() {
			err = fmt.Errorf("no member %q", name)
		}
		if err != nil {
			return fmt.Errorf("byte %d: %w (want a HAR file: {\"log\": {\"entries\": […]}})", d.InputOffset(), err)
		}
	}
	open, err := d.Token()
	if err == nil && open != json.Delim('[') {
		err = errors.New("want an array")
	}
	if err != nil {
		return fmt.Errorf("byte %d: log.entries: %w", d.InputOffset(), err)
	}
	n := 0
	for ; d.More(); n++ {
		bounded.left = maxEntry
		var e Entry
		if err := d.Decode(&e); err != nil && !ofOthers(err) {
			return fmt.Errorf("entry %d, byte %d: %w", n, d.InputOffset(), err)
		}
		if err := each(e); err != nil {
			return fmt.Errorf("entry %d: %w", n, err)
		}
	}
	bounded.left = maxEntry
	_, err = d.Token() // the end of the entries
	for range 2 {      // those of the log and of the archive
		if err == nil {
			err = skipTo(d, nil)
		}
		if err == nil {
			_, err = d.Token()
		}
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

// skipTo skips the members of an object up to the value of the one with the name, or all of them.
func skipTo(d *json.Decoder, name json.Token) error {
	for d.More() {
		member, err := d.Token()
		if err != nil || member == name {
			return err
		}
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			return err
		}
	}
	return nil
}

// ofOthers reports whether the error is about a member that another program has added: the
// format leaves names with an underscore to everybody.
func ofOthers(err error) bool {
	wrong := (*json.UnmarshalTypeError)(nil)
	return errors.As(err, &wrong) && strings.HasPrefix(wrong.Field, "_")
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
		return 0, fmt.Errorf("an entry is longer than %d MiB", maxEntry>>20)
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

package evidence

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/gzip"
)

// Run is what a replay of the recorded run must know. Settings are up to the caller.
type Run struct {
	Keys      map[string]string           `json:"keys"` // shape of the token, by name of the key
	Settings  json.RawMessage             `json:"settings"`
	Decisions map[string]map[string][]int `json:"decisions"` // by source and what is decided
}

// A recording is an archive with a line for its head, for each entry and for its end.
const (
	headBegins = `{"log":{"version":"1.2","creator":`
	headEnds   = `,"entries":[`
	endBegins  = `],"_run":`
	endEnds    = `}}`
)

type creator struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// encoder encodes values in their one JSON form. It is valid until the next value.
type encoder struct {
	text *bytes.Buffer
	json *json.Encoder
}

func newEncoder() encoder {
	text := &bytes.Buffer{}
	e := encoder{text, json.NewEncoder(text)}
	e.json.SetEscapeHTML(false)
	return e
}

func (e encoder) encode(value any) ([]byte, error) {
	e.text.Reset()
	err := e.json.Encode(value)
	return bytes.TrimSuffix(e.text.Bytes(), []byte("\n")), err
}

// Bounds of a recording, which anybody may have written.
const (
	maxSize    = 1 << 30 // bytes, uncompressed
	maxEntries = 200_000
	maxTook    = 24 * time.Hour // of an exchange
)

// ErrTooLarge says that a recording is beyond the bounds of a replay, whoever wrote it.
var ErrTooLarge = errors.New("more than a replay takes")

var errForm = errors.New("not in the form that the recorder writes: another program may read something else there")

// About returns what a recording says of its run. It skips the entries.
func About(from io.Reader) (Run, error) { return read(from, nil) }

// read calls the function with each entry.
func read(from io.Reader, each func(Entry) error) (r Run, err error) {
	zip, err := gzip.NewReader(from)
	if err != nil {
		return r, fmt.Errorf("not a compressed HTTP archive: %w (run --evidence writes one)", err)
	}
	lines := bufio.NewScanner(io.LimitReader(zip, maxSize))
	lines.Buffer(make([]byte, 0, 1<<20), maxEntry)
	as := newEncoder()
	lines.Scan()
	if err := as.strictly(lines.Bytes(), headBegins, headEnds, &creator{}); err != nil {
		return r, errors.Join(fmt.Errorf("the head of the archive: %w", err), lines.Err())
	}
	n := 0
	for more := true; lines.Scan(); {
		line := lines.Bytes()
		if bytes.HasPrefix(line, []byte(endBegins)) {
			err := as.strictly(line, endBegins, endEnds, &r)
			if err == nil && (more && n > 0 || lines.Scan()) {
				err = errForm
			}
			return r, errors.Join(err, lines.Err())
		}
		if n++; n > maxEntries {
			return r, fmt.Errorf("the archive has more than %d entries: %w", maxEntries, ErrTooLarge)
		}
		if !more {
			return r, fmt.Errorf("entry %d: %w", n, errForm)
		}
		line, more = bytes.CutSuffix(line, []byte(","))
		if each == nil {
			continue
		}
		var e Entry
		err := as.strictly(line, "", "", &e)
		if took := time.Duration(e.Time); err == nil && took > maxTook {
			err = fmt.Errorf("it took %s", took)
		}
		if err == nil {
			err = each(e)
		}
		if err != nil {
			return r, fmt.Errorf("entry %d: %w", n, err)
		}
	}
	return r, errors.Join(errors.New("the archive is cut off"), lines.Err())
}

// strictly reads a value between two texts. It refuses all forms of the value but the one that encode
// writes: another program may read the second of two members of one name, for instance.
func (e encoder) strictly(line []byte, before, after string, value any) error {
	text, begins := bytes.CutPrefix(line, []byte(before))
	text, ends := bytes.CutSuffix(text, []byte(after))
	if !begins || !ends {
		return errForm
	}
	if err := json.Unmarshal(text, value); err != nil {
		return err
	}
	form, err := e.encode(value)
	if err == nil && !bytes.Equal(form, text) && !bytes.Equal(asText(form), asText(text)) {
		err = errForm
	}
	return err
}

// asText returns JSON with one spelling of what stands for invalid UTF-8.
func asText(text []byte) []byte { return bytes.ReplaceAll(text, []byte(`\ufffd`), []byte("\ufffd")) }

package owned

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"outreach.example/conformance/internal/paging"
)

// drawn is the form of the texts that runs draw for the names and the subjects of tests. They
// end with the id of the run, unless its names are ordinary.
var drawn = regexp.MustCompile(`^(?:placement check )?(conformance.{0,200}?([0-9a-f]{32}))$`)

// Word returns such a text, a single word. Words of a run differ if their numbers do.
func Word(run string, n uint64) string {
	n &= 1<<48 - 1
	if secret, is := ordinary.Load(bare(run)); is {
		return ordinaryWord(bare(run)+secret.(string), n)
	}
	return Name(fmt.Sprintf("conformance%012x", n), run)
}

// ordinary are the secrets of the runs of this process whose names show nothing, by their ids
// without dashes.
var ordinary sync.Map

// NameOrdinary lets the words of the run look like those of any client: a server cannot tell that
// they are drawn. They follow from the secret, and who knows it can.
func NameOrdinary(run, secret string) { ordinary.Store(bare(run), secret) }

// IsOrdinary reports whether the names of the run are ordinary.
func IsOrdinary(run string) bool {
	_, is := ordinary.Load(bare(run))
	return is
}

var (
	letters  = base32.StdEncoding.WithPadding(base32.NoPadding)
	wordSize = letters.EncodedLen(numberSize + macSize)
)

// Bytes of a number, and of what shows that the run drew it.
const numberSize, macSize = 6, 10

func ordinaryWord(secret string, n uint64) string {
	number := binary.BigEndian.AppendUint64(nil, n)[8-numberSize:]
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = mac.Write(number)
	return strings.ToLower(letters.EncodeToString(append(number, mac.Sum(nil)[:macSize]...)))
}

// drawerOf returns the run that drew an ordinary word; empty if none of this process did.
func drawerOf(word string) (drawer string) {
	raw, err := letters.DecodeString(strings.ToUpper(word))
	if len(word) != wordSize || err != nil {
		return ""
	}
	n := binary.BigEndian.Uint64(append(make([]byte, 8-numberSize), raw[:numberSize]...))
	ordinary.Range(func(run, secret any) bool {
		if word == ordinaryWord(run.(string)+secret.(string), n) {
			drawer = run.(string)
		}
		return drawer == ""
	})
	return drawer
}

func bare(run string) string { return strings.ReplaceAll(run, "-", "") }

// Name returns the text that begins as given, with "conformance", and ends with the run's id.
func Name(begins, run string) string { return begins + bare(run) }

// drawnIn returns the drawn text in a name or a subject, and the run that drew it, without dashes;
// empty if it has another form. A target may change the letter case and outer blanks.
func drawnIn(value any) (text, run string) {
	text, _ = value.(string)
	text = strings.ToLower(strings.TrimSpace(text))
	if found := drawn.FindStringSubmatch(text); found != nil {
		return found[1], found[2]
	}
	word := strings.TrimPrefix(text, "placement check ")
	if run = drawerOf(word); run != "" {
		return word, run
	}
	return "", ""
}

// RunIn returns the id of the run, without dashes, in a name that it has drawn; empty if it
// has another form.
func RunIn(name string) string {
	_, run := drawnIn(name)
	return run
}

// OfRun returns the text by which a row shows that the run drew it; empty if none does.
func OfRun(row map[string]any, run string) string {
	for _, text := range []string{MarkOf(row).Name, MarkOf(row).Subject} {
		if text != "" && RunIn(text) == bare(run) {
			return text
		}
	}
	return ""
}

// Listed are the rows of a list that runs have named, and when the newest of all rows was
// created. That shows the target's own clock, which may differ from ours.
type Listed struct {
	Rows   []paging.Row
	newest time.Time
}

// Look returns what is in a list.
func Look(rows []paging.Row) (l Listed) {
	for _, row := range rows {
		if made := created(row.Value); made.After(l.newest) {
			l.newest = made
		}
		if MarkOf(row.Value) != (Mark{}) {
			l.Rows = append(l.Rows, row)
		}
	}
	return l
}

// Before reports whether a row may have existed before the run began. after is the id of the
// newest test before its first; empty if unknown.
func (l Listed) Before(row map[string]any, run, after string) bool {
	id, _ := row["id"].(string)
	began, known := issued(run)
	return !known || !Sound(id) || after != "" && !Newer(id, after) || l.newest.Sub(created(row)) > time.Since(began)+mostAge
}

// created returns when the row was created, by the target's clock; zero if it does not tell.
func created(row map[string]any) time.Time {
	text, _ := row["timestamp_created"].(string)
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		id, _ := row["id"].(string)
		at, _ = issued(id)
	}
	return at
}

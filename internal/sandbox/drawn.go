package sandbox

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"regexp"
	"strings"
	"sync"
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
	return TestName(fmt.Sprintf("conformance%012x", n), run)
}

// ordinary are the secrets of the runs of this process whose names show nothing, by their ids
// without dashes.
var ordinary sync.Map

// NameOrdinary lets the words of the run look like those of any client: a server cannot tell that
// they are drawn. They follow from the secret, and who knows it can.
func NameOrdinary(run, secret string) { ordinary.Store(bare(run), secret) }

// isOrdinary reports whether the names of the run are ordinary.
func isOrdinary(run string) bool {
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

// TestName returns the text that begins as given, with "conformance", and ends with the run's id.
func TestName(begins, run string) string { return begins + bare(run) }

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

// runIn returns the id of the run, without dashes, in a name that it has drawn; empty if it
// has another form.
func runIn(name string) string {
	_, run := drawnIn(name)
	return run
}

// Package inputfile reads the files that a caller names: regular files, or the standard
// input. Others, such as a pipe that nobody writes to or a device without an end, would
// block the program.
//
// It imports no other package of this module.
package inputfile

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Stdin is the name of the standard input. The path /dev/stdin names it too.
const Stdin = "-"

// Read returns the content of a regular file or of the standard input, of at most limit
// bytes, as Text. Links are followed.
func Read(path string, limit int64) ([]byte, error) {
	if path == Stdin || path == "/dev/stdin" {
		data, err := stdin()
		return bounded("standard input", data, err, limit)
	}
	// Opening a pipe would wait for a writer.
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is %s, not a regular file (name a file, or - for the standard input)", path, kind(info.Mode()))
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(Text(file), limit+1))
	return bounded(path, data, err, limit)
}

// Text returns what r holds, in UTF-8 and without a byte order mark. A mark of UTF-16 names
// the encoding: a redirect in PowerShell writes such files.
func Text(r io.Reader) io.Reader { return transform.NewReader(r, unicode.BOMOverride(transform.Nop)) }

func bounded(name string, data []byte, err error, limit int64) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s has more than %d bytes (is it the right file?)", name, limit)
	}
	return data, nil
}

// maxStdin is the largest standard input that is kept.
const maxStdin = 64 << 20

// stdin reads the standard input once: a command may read its profile several times.
var stdin = sync.OnceValues(func() ([]byte, error) { return io.ReadAll(io.LimitReader(Text(os.Stdin), maxStdin)) })

// kind returns the kind of a file that is not regular.
func kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "of type " + mode.Type().String()
}

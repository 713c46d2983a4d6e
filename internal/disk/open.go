package disk

// This file opens the files that a user or a directory names: regular files, or
// the standard input. Others, such as a pipe that nobody writes to or a device without an
// end, would block the program.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Stdin is the name of the standard input. The path /dev/stdin names it too.
const Stdin = "-"

// IsStdin reports whether the path names the standard input.
func IsStdin(path string) bool { return path == Stdin || path == "/dev/stdin" }

// Read returns the content of a regular file or of the standard input, of at most limit
// bytes, as Text. Links are followed.
func Read(path string, limit int64) ([]byte, error) {
	if IsStdin(path) {
		data, err := stdin()
		return bounded("standard input", data, int64(len(data)), err, limit)
	}
	file, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var data bytes.Buffer
	size := int64(0)
	if info, err := file.Stat(); err == nil {
		size = info.Size()
		data.Grow(int(min(size, limit)) + bytes.MinRead) // at once: growing would need twice the memory
	}
	_, err = data.ReadFrom(io.LimitReader(Text(file), limit+1))
	return bounded(path, data.Bytes(), size, err, limit)
}

// Open opens a regular file for reading.
func Open(path string) (*os.File, error) {
	file, err := OpenFile(path, os.O_RDONLY, 0)
	if refused := (*irregular)(nil); errors.As(err, &refused) {
		return nil, fmt.Errorf("%w (name a file, or - for the standard input)", err)
	}
	return file, err
}

// OpenFile is os.OpenFile for regular files. It never waits for the other end of a pipe.
func OpenFile(path string, flag int, mode fs.FileMode) (*os.File, error) {
	if err := Check(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	file, err := os.OpenFile(path, flag|syscall.O_NONBLOCK, mode) // another file may have taken its place
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil {
		err = regular(path, info)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Check returns an error unless the path leads to a regular file, which other code is about
// to open.
func Check(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return regular(path, info)
}

func regular(path string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return &irregular{path, info.Mode()}
}

// irregular is the error of a file that is not regular.
type irregular struct {
	path string
	mode fs.FileMode
}

func (e *irregular) Error() string {
	return fmt.Sprintf("%s is %s, not a regular file", e.path, kind(e.mode))
}

// Text returns what r holds, in UTF-8 and without a byte order mark. A mark of UTF-16 names
// the encoding: a redirect in PowerShell writes such files.
func Text(r io.Reader) io.Reader { return transform.NewReader(r, unicode.BOMOverride(transform.Nop)) }

func bounded(name string, data []byte, size int64, err error, limit int64) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s has more than %d bytes: %d (is it the right file?)", name, limit, size)
	}
	return data, nil
}

// maxStdin is the largest standard input that is kept.
const maxStdin = 64 << 20

// stdin reads the standard input once: a command may read its profile several times.
var stdin = sync.OnceValues(func() ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(Text(os.Stdin), maxStdin+1))
	if len(text) > maxStdin {
		return nil, fmt.Errorf("the standard input has more than %d bytes (name a file)", maxStdin)
	}
	return text, err
})

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

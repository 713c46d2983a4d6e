// Package atomicfile replaces files whole: a reader sees the former content or
// the new one, never a part. It imports nothing of this module.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// attempts bounds the search for a free temporary name.
const attempts = 100

// Replace lets write fill a temporary file beside path and then renames it to
// path. Missing directories are made. When write fails, path is as before and
// the temporary file is gone.
//
// A path that leads to anything but a regular file is refused: a rename would
// replace a device or a pipe instead of writing to it.
func Replace(path string, write func(temporary string) error) (err error) {
	path, err = destination(path)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	temporary, err := reserve(path)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, ignoreAbsent(os.Remove(temporary)))
		}
	}()
	if err := write(temporary); err != nil {
		return err
	}
	if err := flush(temporary); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}

// destination follows symbolic links, so that a link stays a link.
func destination(path string) (string, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a regular file: name a file that may be replaced", path)
	}
	return filepath.EvalSymlinks(path)
}

// reserve makes the temporary file itself, rather than with os.CreateTemp, so
// that the mode of the result follows the umask like that of any new file.
func reserve(path string) (string, error) {
	for range attempts {
		name := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%08x", filepath.Base(path), rand.Uint32()))
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		return name, f.Close()
	}
	return "", fmt.Errorf("no free temporary name beside %s after %d attempts", path, attempts)
}

// flush sees to it that the content is on disk before the name points to it.
func flush(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func ignoreAbsent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

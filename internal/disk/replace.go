package disk

// This file replaces files atomically: a reader sees the old content or
// the new content, never a part of it. No key gets into a file.

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"outreach.example/conformance/internal/redact"
)

// attempts bounds the search for a free temporary name.
const attempts = 100

// Write replaces the file at path with the content (Replace).
func Write(path string, content []byte) error {
	return Replace(path, func(temporary string) error { return os.WriteFile(temporary, content, 0o666) })
}

// Stream replaces the file at path with what write writes (Replace).
func Stream(path string, write func(io.Writer) error) error {
	return Replace(path, func(temporary string) error {
		file, err := os.Create(temporary)
		if err != nil {
			return err
		}
		buffered := bufio.NewWriter(file)
		return errors.Join(write(buffered), buffered.Flush(), file.Close())
	})
}

// Replace calls write with the name of a temporary file beside path, then renames
// that file to path. It creates missing directories. If write fails, Replace
// removes the temporary file and leaves path unchanged.
//
// Path must be a regular file or absent. A rename would replace a device or pipe
// instead of writing to it.
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
	if err := redact.Process.File(temporary); err != nil {
		return err
	}
	if err := flush(temporary); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}

// destination follows symbolic links, so that a link stays a link.
func destination(path string) (string, error) {
	err := Check(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// reserve creates a temporary file. It does not use os.CreateTemp, because the
// mode of the result must follow the umask.
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

// flush writes the content to disk before the rename.
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

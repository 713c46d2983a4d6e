package bundle

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"

	"outreach.example/conformance/internal/disk"
)

// ErrNotBundle is the error of a file that is not a bundle.
var ErrNotBundle = errors.New("not a bundle")

// Bundle is an open bundle. Until Check has found nothing, anybody may have written what it holds.
type Bundle struct {
	Manifest Manifest

	io.Closer
	archive  *io.SectionReader
	members  map[string]*zip.File
	manifest []byte
}

// Open opens the bundle at the path. The caller closes it.
func Open(path string) (*Bundle, error) {
	file, err := disk.Open(path)
	if err != nil {
		return nil, err
	}
	var b *Bundle
	size, err := file.Seek(0, io.SeekEnd)
	if err == nil {
		b, err = Read(file, size)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	b.Closer = file
	return b, nil
}

// Read opens a bundle of the size. It stays within the bounds, whatever the bundle holds.
func Read(from io.ReaderAt, size int64) (*Bundle, error) {
	b := &Bundle{Closer: io.NopCloser(nil), archive: io.NewSectionReader(from, 0, size), members: map[string]*zip.File{}}
	if err := b.open(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotBundle, err)
	}
	return b, nil
}

func (b *Bundle) open() error {
	if err := checkEnd(b.archive); err != nil {
		return err
	}
	archive, err := zip.NewReader(b.archive, b.archive.Size())
	if err != nil {
		return err
	}
	if n := len(archive.File); n > maxMembers {
		return fmt.Errorf("%d files (want at most %d)", n, maxMembers)
	}
	total := uint64(0)
	for _, f := range archive.File {
		if err := checkMember(f); err != nil {
			return fmt.Errorf("%.100q: %w", f.Name, err)
		}
		if b.members[f.Name] != nil {
			return fmt.Errorf("%q: two files of the name", f.Name)
		}
		b.members[f.Name] = f
		total += f.UncompressedSize64
	}
	if total > maxArchive {
		return fmt.Errorf("more than %d bytes", maxArchive)
	}
	if b.manifest, err = b.Content(ManifestFile); err != nil {
		return err
	}
	if b.Manifest, err = parse(b.manifest); err != nil {
		return fmt.Errorf("%s: %w", ManifestFile, err)
	}
	return nil
}

// checkEnd reads the last record of the archive: package zip would read a directory of any size, and
// ignores what follows the archive.
func checkEnd(archive *io.SectionReader) error {
	end := make([]byte, 22)
	at := archive.Size() - int64(len(end))
	if n, _ := archive.ReadAt(end, at); n < len(end) || !bytes.HasPrefix(end, []byte("PK\x05\x06")) {
		return errors.New("not a zip archive, or cut off, or followed by other data")
	}
	size, begin := int64(binary.LittleEndian.Uint32(end[12:])), int64(binary.LittleEndian.Uint32(end[16:]))
	if size > maxDirectory || begin+size != at {
		return errors.New("the directory of the archive is too large, or not where it should be")
	}
	return nil
}

var memberName = regexp.MustCompile(`^[\w./-]{1,100}$`)

func checkMember(f *zip.File) error {
	switch {
	case !memberName.MatchString(f.Name) || !fs.ValidPath(f.Name):
		return errors.New("no name of a file in a bundle")
	case !f.Mode().IsRegular():
		return errors.New("not a regular file")
	case f.Flags&1 != 0:
		return errors.New("encrypted")
	case f.UncompressedSize64 > uint64(limitOf(f.Name)):
		return fmt.Errorf("more than %d bytes", limitOf(f.Name))
	}
	return nil
}

// Open opens a member. Its error is fs.ErrNotExist if the bundle does not have it.
func (b *Bundle) Open(name string) (io.ReadCloser, error) {
	f := b.members[name]
	if f == nil {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return f.Open()
}

// Content returns a member.
func (b *Bundle) Content(name string) ([]byte, error) {
	from, err := b.Open(name)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	body, err := io.ReadAll(from) // as many bytes as its header says, which the bound covers
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return body, nil
}

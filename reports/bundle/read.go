package bundle

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"outreach.example/conformance/internal/inputfile"
)

// ErrNotBundle is the error of a file that is not a bundle.
var ErrNotBundle = errors.New("not a bundle")

func notBundle(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrNotBundle, fmt.Errorf(format, args...))
}

// Bundle is an open bundle. Until Check has found nothing, anybody may have written what it holds.
type Bundle struct {
	Manifest Manifest

	manifest []byte
	archive  *io.SectionReader
	members  map[string]*zip.File
	close    func() error
}

// Open opens the bundle at the path. The caller closes it.
func Open(path string) (*Bundle, error) {
	file, err := inputfile.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	b, err := Read(file, info.Size())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	b.close = file.Close
	return b, nil
}

// Read opens a bundle of the size. It stays within the bounds, whatever the bundle holds.
func Read(from io.ReaderAt, size int64) (*Bundle, error) {
	if err := checkEnd(from, size); err != nil {
		return nil, err
	}
	archive, err := zip.NewReader(from, size)
	if err != nil {
		return nil, notBundle("%w", err)
	}
	if n := len(archive.File); n > maxMembers {
		return nil, notBundle("%d files (want at most %d)", n, maxMembers)
	}
	b := &Bundle{archive: io.NewSectionReader(from, 0, size), members: map[string]*zip.File{}, close: func() error { return nil }}
	names, total := map[string]bool{}, uint64(0)
	for _, f := range archive.File {
		if err := checkMember(f); err != nil {
			return nil, notBundle("%.100q: %w", f.Name, err)
		}
		folded := strings.ToLower(f.Name) // some file systems do not tell them apart
		if names[folded] {
			return nil, notBundle("%.100q: two files of the name", f.Name)
		}
		names[folded], b.members[f.Name] = true, f
		total += f.UncompressedSize64
	}
	if total > maxArchive {
		return nil, notBundle("more than %d bytes", maxArchive)
	}
	if b.manifest, err = b.read(ManifestFile); err != nil {
		return nil, notBundle("%w", err)
	}
	if b.Manifest, err = parse(b.manifest); err != nil {
		return nil, notBundle("%s: %w", ManifestFile, err)
	}
	return b, nil
}

// checkEnd reads the last record of the archive: package zip would read a directory of any size, and
// ignores what follows the archive.
func checkEnd(from io.ReaderAt, size int64) error {
	const maxDirectory = 64 << 10
	end := make([]byte, 22)
	if size > maxArchive+maxDirectory {
		return notBundle("more than %d bytes", maxArchive)
	}
	if n, err := from.ReadAt(end, size-int64(len(end))); n < len(end) {
		return notBundle("not a zip archive (%w)", err)
	}
	directory, offset := int64(binary.LittleEndian.Uint32(end[12:])), int64(binary.LittleEndian.Uint32(end[16:]))
	if !bytes.HasPrefix(end, []byte("PK\x05\x06")) || end[20] != 0 || end[21] != 0 {
		return notBundle("not a zip archive, or cut off, or followed by other data")
	}
	if directory > maxDirectory || offset+directory != size-int64(len(end)) {
		return notBundle("the directory of the zip archive is too large, or not where it should be")
	}
	return nil
}

func checkMember(f *zip.File) error {
	switch {
	case !fs.ValidPath(f.Name) || len(f.Name) > 100 || strings.ContainsFunc(f.Name, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' || r == ':' }):
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

// Member opens a member. Its error is fs.ErrNotExist if the bundle does not have it.
func (b *Bundle) Member(name string) (io.ReadCloser, error) {
	f := b.members[name]
	if f == nil {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return f.Open()
}

// Close closes the file of Open.
func (b *Bundle) Close() error { return b.close() }

// read returns a member.
func (b *Bundle) read(name string) ([]byte, error) {
	from, err := b.Member(name)
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

package bundle

import (
	"archive/zip"
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"slices"
	"strings"

	"outreach.example/conformance/internal/disk"
)

// Names of the members of a bundle. InRun gives those of a run.
const (
	ManifestFile = "manifest.json"
	EnvelopeFile = "certificate.dsse.json" // the signature, in a DSSE envelope; optional
	ProfileFile  = "profile.yaml"
	PageFile     = "certificate.html"
	BadgeFile    = "badge.svg"

	ResultsFile  = "results.json"
	EvidenceFile = "evidence.har.gz"
	ReportFile   = "report.html"
)

// InRun returns the name of a file of the run with the number, which counts from 1.
func InRun(number int, file string) string { return fmt.Sprintf("runs/%d/%s", number, file) }

// Bounds of a bundle.
const (
	maxRuns       = 16
	maxMembers    = 64
	maxSignatures = 8
	maxText       = 4 << 20   // bytes of the manifest, and of the envelope
	maxEvidence   = 256 << 20 // bytes of a run, compressed
	maxMember     = 64 << 20  // bytes
	maxArchive    = 1 << 30   // bytes
	maxDirectory  = 64 << 10  // bytes of the archive's list of members
)

func limitOf(name string) int64 {
	switch {
	case name == ManifestFile || name == EnvelopeFile:
		return maxText
	case strings.HasSuffix(name, "/"+EvidenceFile):
		return maxEvidence
	}
	return maxMember
}

// names returns the members of a bundle, sorted, beside the manifest and the envelope.
func (m Manifest) names() []string {
	names := []string{ProfileFile, PageFile, BadgeFile}
	for i := range m.Runs {
		names = append(names, InRun(i+1, ResultsFile), InRun(i+1, EvidenceFile), InRun(i+1, ReportFile))
	}
	slices.Sort(names)
	return names
}

// Source opens a file. Each call starts anew.
type Source func() (io.ReadCloser, error)

// Path is the file at the path.
func Path(path string) Source { return func() (io.ReadCloser, error) { return disk.Open(path) } }

// Bytes is a file with the content.
func Bytes(content []byte) Source {
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
}

// Write writes a bundle of the files, by their names. It signs the bundle if there is a key. Equal
// values give equal bytes.
func Write(to io.Writer, m Manifest, files map[string]Source, key ed25519.PrivateKey) error {
	if want, got := m.names(), slices.Sorted(maps.Keys(files)); !slices.Equal(got, want) {
		return fmt.Errorf("bundle: the files %q, want %q", got, want)
	}
	all, err := measured(files)
	if err != nil {
		return err
	}
	m.Version, m.Files = formatVersion, map[string]File{}
	for name, member := range all {
		m.Files[name] = member.File
	}
	body, err := m.Encode()
	if err == nil {
		err = checkForm(body)
	}
	if err == nil {
		err = all.add(ManifestFile, Bytes(body))
	}
	if err == nil && key != nil {
		if body, err = Sign(m, key); err == nil {
			err = all.add(EnvelopeFile, Bytes(body))
		}
	}
	if err != nil {
		return err
	}
	return all.pack(to)
}

// Pack writes the files as an archive in the form of a bundle, whatever they hold.
func Pack(to io.Writer, files map[string]Source) error {
	all, err := measured(files)
	if err != nil {
		return err
	}
	return all.pack(to)
}

type member struct {
	File
	crc  uint32
	open Source
}

type members map[string]member

func measured(files map[string]Source) (members, error) {
	all := members{}
	for name, open := range files {
		if err := all.add(name, open); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// add reads the file, within its bound.
func (all members) add(name string, open Source) error {
	m := member{open: open}
	digest, crc := sha256.New(), crc32.NewIEEE()
	var err error
	if m.Size, err = m.copyTo(io.MultiWriter(digest, crc), limitOf(name)); err != nil {
		return fmt.Errorf("bundle: %q: %w", name, err)
	}
	m.SHA256, m.crc = hex.EncodeToString(digest.Sum(nil)), crc.Sum32()
	all[name] = m
	return nil
}

func (m member) copyTo(to io.Writer, limit int64) (int64, error) {
	from, err := m.open()
	if err != nil {
		return 0, err
	}
	defer from.Close()
	n, err := io.Copy(to, io.LimitReader(from, limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("more than %d bytes", limit)
	}
	return n, err
}

// pack writes the members, sorted by name. It does not compress: evidence is compressed, and
// another version of a compressor would give other bytes.
func (all members) pack(to io.Writer) error {
	w := zip.NewWriter(to)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		m := all[name]
		size := uint64(m.Size)
		out, err := w.CreateRaw(&zip.FileHeader{Name: name, CRC32: m.crc, CompressedSize64: size, UncompressedSize64: size})
		if err != nil {
			return err
		}
		crc := crc32.NewIEEE()
		n, err := m.copyTo(io.MultiWriter(out, crc), m.Size)
		switch {
		case err != nil:
			return fmt.Errorf("bundle: %s: %w", name, err)
		case n != m.Size || crc.Sum32() != m.crc:
			return fmt.Errorf("bundle: %q changed while it was read", name)
		}
	}
	return w.Close()
}

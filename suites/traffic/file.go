package traffic

import (
	"bufio"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"

	"outreach.example/conformance/internal/disk"
	"outreach.example/conformance/internal/evidence"
)

// ReadFile adds each entry of an HTTP Archive, compressed or not.
func (j *Judge) ReadFile(path string) error {
	file, err := disk.Open(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer func() { _ = file.Close() }()
	buffered := bufio.NewReaderSize(file, 1<<16)
	var from io.Reader = buffered
	if magic, _ := buffered.Peek(2); string(magic) == "\x1f\x8b" {
		from, err = gzip.NewReader(buffered)
	}
	if err == nil {
		err = evidence.Read(disk.Text(from), j.Add)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

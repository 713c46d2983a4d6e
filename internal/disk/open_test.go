//go:build unix

package disk

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestOnlyRegularFilesAreRead(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("file"), []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("file", at("link")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(at("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", at("socket"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })

	for _, name := range []string{"file", "link"} {
		if data, err := Read(at(name), 7); err != nil || string(data) != "content" {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	for path, says := range map[string]string{
		dir: "is a directory, not a regular file", at("pipe"): "is a pipe, not", at("socket"): "is a socket, not", "/dev/zero": "is a device, not", at("none"): "no such file",
	} {
		if _, err := Read(path, 7); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", path, err, says)
		}
	}
	if _, err := Read(at("file"), 6); err == nil || !strings.Contains(err.Error(), "more than 6 bytes") {
		t.Errorf("too large: %v", err)
	}
}

// A redirect in PowerShell writes UTF-16, and editors write a byte order mark.
func TestTextIsReadInUTF8(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results.json")
	for name, text := range map[string]string{
		"plain": "{\"a\":\"é😀\"}", "marked": "\ufeff{\"a\":\"é😀\"}",
		"UTF-16LE": "\xff\xfe{\x00\"\x00a\x00\"\x00:\x00\"\x00\xe9\x00\x3d\xd8\x00\xde\"\x00}\x00",
		"UTF-16BE": "\xfe\xff\x00{\x00\"\x00a\x00\"\x00:\x00\"\x00\xe9\xd8\x3d\xde\x00\x00\"\x00}",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if data, err := Read(file, 14); err != nil || string(data) != "{\"a\":\"é😀\"}" {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
}

// The standard input is read once, and returned as often as it is asked for.
func TestStandardInput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(file, []byte("typed"), 0o600); err != nil {
		t.Fatal(err)
	}
	input, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func(before *os.File) { os.Stdin = before }(os.Stdin)
	os.Stdin = input
	for _, name := range []string{Stdin, "/dev/stdin", Stdin} {
		if data, err := Read(name, 100); err != nil || string(data) != "typed" {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if _, err := Read(Stdin, 4); err == nil || !strings.Contains(err.Error(), "standard input has more than 4 bytes") {
		t.Errorf("too large: %v", err)
	}
}

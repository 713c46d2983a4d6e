package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// file is a file in an archive.
type file struct {
	name    string
	mode    fs.FileMode
	content []byte
}

// writeArchive writes the binary, the licence and the README: base.zip for Windows,
// base.tar.gz otherwise.
func writeArchive(from source, p platform, binary, base string) error {
	var files []file
	for _, f := range []struct {
		path string
		mode fs.FileMode
	}{{binary, 0o755}, {filepath.Join(from.root, "LICENSE"), 0o644}, {filepath.Join(from.root, "README.md"), 0o644}} {
		content, err := os.ReadFile(f.path)
		if err != nil {
			return err
		}
		files = append(files, file{filepath.Base(f.path), f.mode, content})
	}
	if p.os == "windows" {
		return create(base+".zip", func(w io.Writer) error { return writeZip(w, files, from.time) })
	}
	return create(base+".tar.gz", func(w io.Writer) error {
		compressed := gzip.NewWriter(w)
		return errors.Join(writeTar(compressed, files, from.time), compressed.Close())
	})
}

func writeTar(w io.Writer, files []file, modified time.Time) error {
	archive := tar.NewWriter(w)
	for _, f := range files {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: int64(f.mode.Perm()), Size: int64(len(f.content)), ModTime: modified, Format: tar.FormatUSTAR}
		if f.mode.IsDir() {
			header.Typeflag = tar.TypeDir
		}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(f.content); err != nil {
			return err
		}
	}
	return archive.Close()
}

func writeZip(w io.Writer, files []file, modified time.Time) error {
	archive := zip.NewWriter(w)
	for _, f := range files {
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: modified}
		header.SetMode(f.mode)
		entry, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := entry.Write(f.content); err != nil {
			return err
		}
	}
	return archive.Close()
}

// create writes a file.
func create(path string, write func(io.Writer) error) error {
	to, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(to), to.Close())
}

package view

import (
	"io"
	"os"
)

// FileOf returns the file behind a writer, which may redact; nil if there is none.
func FileOf(w io.Writer) *os.File {
	if gate, ok := w.(interface{ Unwrap() io.Writer }); ok {
		w = gate.Unwrap()
	}
	file, _ := w.(*os.File)
	return file
}

// On returns how to show something on the writer.
func On(w io.Writer) (o ProgressOptions) {
	if file := FileOf(w); file != nil {
		detected := Detect(file, os.Getenv)
		o.Color, o.Width, o.Live = detected.Color, detected.Width, Live(file, os.Getenv)
	}
	return o
}

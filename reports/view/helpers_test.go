package view_test

import (
	"bytes"

	"outreach.example/conformance/reports/view"
)

// rendered returns what a view writes.
func rendered[T any](show view.View[T], results T) ([]byte, error) {
	var b bytes.Buffer
	err := show(&b, results, view.Options{})
	return b.Bytes(), err
}

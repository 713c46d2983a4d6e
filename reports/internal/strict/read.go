package strict

import (
	"fmt"
	"io"
	"os"
)

// Format is the form in which a results model stands in a file.
type Format[T any] struct {
	Name    string // of the model, as errors call it
	Version string // of the model; a file of another one is refused
	MaxSize int64  // of a file, in bytes
	// Complete gives every array and object that must be there an empty value
	// where it is nil. An encoder of the model does the same.
	Complete func(T) T
	Validate func(T) error // says what contradicts itself
}

// Read returns the value that the file at path holds. Its errors name the file.
func (f Format[T]) Read(path string) (T, error) {
	var none T
	file, err := os.Open(path)
	if err != nil {
		return none, fmt.Errorf("read %s: %w", f.Name, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return none, fmt.Errorf("read %s: %w", f.Name, err)
	}
	if info.Size() > f.MaxSize {
		return none, fmt.Errorf("%s: %w", path, f.tooLarge())
	}
	body, err := io.ReadAll(io.LimitReader(file, f.MaxSize+1)) // a pipe has no size
	if err != nil {
		return none, fmt.Errorf("read %s: %w", f.Name, err)
	}
	value, err := f.Parse(body)
	if err != nil {
		return none, fmt.Errorf("%s: %w", path, err)
	}
	return value, nil
}

// Parse returns the value of which body is the JSON form, as strictly as Read.
func (f Format[T]) Parse(body []byte) (T, error) {
	var none T
	if int64(len(body)) > f.MaxSize {
		return none, f.tooLarge()
	}
	value, err := parse(body, f.Version, f.Complete)
	if err != nil {
		return none, err
	}
	if err := f.Validate(value); err != nil {
		return none, err
	}
	return value, nil
}

func (f Format[T]) tooLarge() error {
	return fmt.Errorf("larger than %d bytes (not a %s file)", f.MaxSize, f.Name)
}

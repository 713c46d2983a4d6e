package refserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"
)

// maxBody bounds a request body, in bytes.
const maxBody = 1 << 20

// readBody reads the whole body.
func (c *call) readBody() ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, maxBody))
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return nil, errTooLarge
	}
	if err != nil {
		return nil, invalid("body cannot be read: %v", err)
	}
	return body, nil
}

// object reads a body that must be one JSON object. A missing content type is
// taken for JSON.
func (c *call) object() (object, error) {
	if content := c.r.Header.Get("Content-Type"); content != "" && !isJSON(content) {
		return object{}, invalid("the content type must be application/json, not %q", content)
	}
	body, err := c.readBody()
	if err != nil {
		return object{}, err
	}
	value, err := decode(body)
	if err != nil {
		return object{}, err
	}
	fields, ok := value.(map[string]any)
	if !ok {
		return object{}, invalid("body must be an object")
	}
	return object{at: "body", fields: fields, reader: &reader{}}, nil
}

// noBody accepts an absent body or null, with any content type.
func (c *call) noBody() error {
	body, err := c.readBody()
	if err != nil {
		return err
	}
	if text := bytes.TrimSpace(body); len(text) > 0 && string(text) != "null" {
		return invalid("body must be null or absent")
	}
	return nil
}

func isJSON(content string) bool {
	media, _, err := mime.ParseMediaType(content)
	return err == nil && (media == "application/json" || strings.HasSuffix(media, "+json"))
}

// decode reads exactly one JSON value. Numbers stay as they were written.
func decode(body []byte) (any, error) {
	if !utf8.Valid(body) {
		return nil, invalid("body is not valid UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, invalid("body is not valid JSON: %v", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, invalid("body must hold one JSON value and nothing behind it")
	}
	return value, nil
}

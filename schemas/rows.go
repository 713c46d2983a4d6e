package schemas

import (
	"bytes"
	"sync"
)

// A run reads the same rows many times, for example in walks with different
// limits. A valid row stays valid, so that the cache keeps its bytes and results.

// cleanRow holds the results of a row without findings. All judgements of
// bodies with the row share it.
type cleanRow struct {
	value        any
	size         int // bytes of memory
	seen, unread idSet
	extra        []string
}

// rowKey identifies a row. It holds the form of the response because Decode
// counts depth from the root of the body: a page is deeper than a single row.
type rowKey struct {
	table *fieldTable
	form  int
	raw   string
}

// cacheBytes bounds one generation of a rowCache, in bytes of memory. The cache keeps
// no row that takes more than rowBytes.
const (
	cacheBytes = 12 << 20
	rowBytes   = cacheBytes / 64
)

// rowCache holds clean rows in two generations. It drops the old generation when
// the young one is full. Rows in use stay, and memory is bounded.
type rowCache struct {
	mu         sync.Mutex
	young, old map[rowKey]*cleanRow
	size       int // bytes of memory of the young generation
}

func (m *rowCache) find(s *fieldTable, form int, raw []byte) (*cleanRow, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if row, ok := m.young[rowKey{s, form, string(raw)}]; ok {
		return row, true
	}
	row, ok := m.old[rowKey{s, form, string(raw)}]
	if ok {
		m.put(rowKey{s, form, string(raw)}, row)
	}
	return row, ok
}

func (m *rowCache) keep(s *fieldTable, form int, raw []byte, row *cleanRow) {
	if len(raw)+row.size > rowBytes {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(rowKey{s, form, string(raw)}, row)
}

func (m *rowCache) put(key rowKey, row *cleanRow) {
	if m.young == nil || m.size+len(key.raw)+row.size > cacheBytes {
		m.young, m.old, m.size = map[rowKey]*cleanRow{}, m.young, 0
	}
	if _, known := m.young[key]; !known {
		m.size += len(key.raw) + row.size
	}
	m.young[key] = row
}

// rowReader collects the rows of a list while a decoder reads it.
type rowReader struct {
	inItems bool // rows are in the items of the root object, otherwise in the root array
	find    func(raw []byte) (*cleanRow, bool)
	rows    []readRow
}

// readRow is one row of a list. known is nil for a row that the cache does not hold.
type readRow struct {
	raw   []byte
	size  int // bytes of memory
	value any
	known *cleanRow
}

// row reads an element of a list of rows. It does not parse the bytes of a known
// row: they were parsed before, and end at the same byte.
func (d *decoder) row() (any, error) {
	start := d.pos
	if end := objectEnd(d.data[:min(len(d.data), start+rowBytes)], start); end > 0 { // the cache has no longer row
		if row, ok := d.rows.find(d.data[start:end]); ok {
			d.pos = end
			d.rows.rows = append(d.rows.rows, readRow{value: row.value, known: row})
			return row.value, nil
		}
	}
	before := d.size
	value, err := d.value()
	if err != nil {
		return nil, err
	}
	d.rows.rows = append(d.rows.rows, readRow{raw: d.data[start:d.pos], size: d.size - before, value: value})
	return value, nil
}

// objectEnd returns the position after the JSON object that begins at start; 0 if no
// object begins there, or if it has no end. It reads braces and strings only.
func objectEnd(data []byte, start int) int {
	if start >= len(data) || data[start] != '{' {
		return 0
	}
	open := 0
	for i := start; i < len(data); i++ {
		switch data[i] {
		case '{':
			open++
		case '}':
			if open--; open == 0 {
				return i + 1
			}
		case '"':
			if i = stringEnd(data, i); i == 0 {
				return 0
			}
		}
	}
	return 0
}

// stringEnd returns the position of the quote that ends the string which begins at start; 0
// if it has no end.
func stringEnd(data []byte, start int) int {
	for i := start + 1; ; i++ {
		n := bytes.IndexByte(data[i:], '"')
		if n < 0 {
			return 0
		}
		i += n
		escapes := 0
		for data[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i
		}
	}
}

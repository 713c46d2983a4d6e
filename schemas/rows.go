package schemas

import "sync"

// A run reads the same rows over and over: page walks with different limits,
// load on one list. A row that was judged clean once is clean for ever, so its
// bytes are remembered together with all that they led to.

// cleanRow is what a row without findings led to. It is shared by all
// judgements of bodies that hold the row.
type cleanRow struct {
	value any
	seen  marks
	extra []string
}

// rowKey tells one row from another. The form is part of it because depth
// counts from the body's root, which makes the same bytes deeper in a page.
type rowKey struct {
	sheet *sheet
	form  int
	raw   string
}

// memoBytes bounds one generation of a memo, in bytes of rows as received;
// decoded they take about five times as much.
const memoBytes = 4 << 20

// memo remembers clean rows. It holds two generations: when the younger one is
// full, the elder is dropped, so that rows in use stay and memory is bounded.
type memo struct {
	mu             sync.Mutex
	younger, elder map[rowKey]*cleanRow
	size           int // bytes of the younger generation
}

func (m *memo) find(s *sheet, form int, raw []byte) (*cleanRow, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if row, ok := m.younger[rowKey{s, form, string(raw)}]; ok {
		return row, true
	}
	row, ok := m.elder[rowKey{s, form, string(raw)}]
	if ok {
		m.put(rowKey{s, form, string(raw)}, row)
	}
	return row, ok
}

func (m *memo) keep(s *sheet, form int, raw []byte, row *cleanRow) {
	if len(raw) > memoBytes/64 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(rowKey{s, form, string(raw)}, row)
}

func (m *memo) put(key rowKey, row *cleanRow) {
	if m.younger == nil || m.size+len(key.raw) > memoBytes {
		m.younger, m.elder, m.size = map[rowKey]*cleanRow{}, m.younger, 0
	}
	if _, known := m.younger[key]; !known {
		m.size += len(key.raw)
	}
	m.younger[key] = row
}

// rowReader is told of the rows of a list while a decoder reads it.
type rowReader struct {
	inItems bool // the rows are in the root object's items; else in the root array
	find    func(raw []byte) (*cleanRow, bool)
	rows    []readRow
}

// readRow is one row of a list: a clean one that is known, or a new one.
type readRow struct {
	raw   []byte
	value any
	known *cleanRow
}

// row reads an element of a list of rows. The bytes of a known row need not be
// parsed again: they were read as one object before, so that parsing would end
// at the same byte.
func (d *decoder) row() (any, error) {
	start := d.pos
	if end := objectEnd(d.data, start); end > 0 {
		if row, ok := d.rows.find(d.data[start:end]); ok {
			d.pos = end
			d.rows.rows = append(d.rows.rows, readRow{value: row.value, known: row})
			return row.value, nil
		}
	}
	value, err := d.value()
	if err != nil {
		return nil, err
	}
	d.rows.rows = append(d.rows.rows, readRow{raw: d.data[start:d.pos], value: value})
	return value, nil
}

// objectEnd returns the position after the brace that closes the one at start,
// 0 if there is no object there. It looks at nothing but braces and strings.
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
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		}
	}
	return 0
}

package refserver

import (
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

// idSource makes UUIDs of version 7 that ascend strictly, above all that it has
// been shown. Its time never lies before the time of a former id: after rows
// from the future it runs ahead of the clock, since rows are sorted by id and
// their timestamps must rise with it.
type idSource struct {
	clock func() time.Time

	mu    sync.Mutex
	ms    int64  // of the latest id, Unix milliseconds
	count uint16 // of ids within ms, in the 12 bits behind the version
}

const maxCount = 1<<12 - 1

// above makes all further ids greater than id.
func (s *idSource) above(id string) {
	parsed, err := uuid.Parse(id)
	if err != nil || parsed.Version() != 7 {
		return // carries no time; New has checked that it is a UUID
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if ms := int64(binary.BigEndian.Uint64(parsed[:8]) >> 16); ms >= s.ms {
		s.ms, s.count = ms, maxCount
	}
}

// next returns a new id and the time that it carries.
func (s *idSource) next() (id string, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch now := s.clock().UnixMilli(); {
	case now > s.ms:
		s.ms, s.count = now, 0
	case s.count < maxCount:
		s.count++
	default:
		s.ms, s.count = s.ms+1, 0
	}
	var u uuid.UUID
	binary.BigEndian.PutUint64(u[:8], uint64(s.ms)<<16|0x7000|uint64(s.count))
	binary.BigEndian.PutUint64(u[8:], rand.Uint64()>>2|1<<63)
	return u.String(), time.UnixMilli(s.ms).UTC()
}

// parseUUID reads a UUID in its usual form and returns it in lower case.
func parseUUID(text string) (string, bool) {
	if len(text) != 36 || uuid.Validate(text) != nil {
		return "", false
	}
	return strings.ToLower(text), true
}

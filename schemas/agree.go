package schemas

import (
	"encoding/json"
	"math/big"
	"reflect"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Agree reports whether two decoded JSON values say the same where both say something:
// numbers by value, UUIDs in either case, timestamps by instant, objects whatever the
// order of their members. A member that only one of two objects has is no difference.
func Agree(a, b any) bool { return says(a, b, true) }

// Covers reports whether got says everything that want says. It may say more.
func Covers(want, got any) bool { return says(want, got, false) }

// says reports whether got says what want says. With mayMiss, got may lack
// members of objects.
func says(want, got any, mayMiss bool) bool {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			return false
		}
		for name, value := range want {
			if has, ok := object[name]; ok && !says(value, has, mayMiss) || !ok && !mayMiss {
				return false
			}
		}
		return true
	case []any:
		array, ok := got.([]any)
		if !ok || len(array) != len(want) {
			return false
		}
		for i := range want {
			if !says(want[i], array[i], mayMiss) {
				return false
			}
		}
		return true
	case json.Number:
		number, ok := got.(json.Number)
		return ok && sameNumber(want, number)
	case string:
		text, ok := got.(string)
		return ok && (want == text || sameID(want, text) || sameMoment(want, text))
	default:
		return reflect.DeepEqual(want, got)
	}
}

// sameID reports whether both texts are the same UUID (RFC 9562, section 4).
func sameID(a, b string) bool {
	return strings.EqualFold(a, b) && len(a) == len(uuid.Nil.String()) && uuid.Validate(a) == nil
}

// sameMoment reports whether both texts are timestamps of the same instant: the schemas
// judge their form.
func sameMoment(a, b string) bool {
	x, errX := time.Parse(time.RFC3339Nano, a)
	y, errY := time.Parse(time.RFC3339Nano, b)
	return errX == nil && errY == nil && x.Equal(y)
}

func sameNumber(a, b json.Number) bool {
	if a == Unread || b == Unread {
		return true
	}
	x, okX := new(big.Rat).SetString(a.String())
	y, okY := new(big.Rat).SetString(b.String())
	return okX && okY && x.Cmp(y) == 0
}

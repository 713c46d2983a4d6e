package load

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"outreach.example/conformance/reports/internal/strict"
)

// signed are the fields of the JSON form whose numbers may be negative.
var signed = []string{"seed", "per_minute", "difference", "measured"} // a regression that is none is below 0

// shares are the fields whose numbers lie between 0 and 1.
var shares = []string{"share", "error_share", "confidence", "p"}

// validateNumbers finds every number of r that is NaN, infinite, negative where
// nothing can be, or outside 0 and 1 where it is a share.
func validateNumbers(p *strict.Problems, r Results) { numbers(p, reflect.ValueOf(r), "", false) }

func numbers(p *strict.Problems, v reflect.Value, at string, negative bool) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			if name == "" {
				continue // inside a time.Time
			}
			below := at + "/" + name
			numbers(p, v.Field(i), below, negative || slices.Contains(signed, name))
			if slices.Contains(shares, name) {
				p.Unless(v.Field(i).Float() <= 1, below, "%v is more than the whole", v.Field(i).Float())
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			numbers(p, v.Elem(), at, negative)
		}
	case reflect.Slice:
		for i := range v.Len() {
			numbers(p, v.Index(i), fmt.Sprintf("%s/%d", at, i), negative)
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, key := range keys {
			numbers(p, v.MapIndex(key), strict.Below(at, key.String()), negative)
		}
	case reflect.Int, reflect.Int64:
		p.Unless(negative || v.Int() >= 0, at, "%d is negative", v.Int())
	case reflect.Float64:
		f := v.Float()
		if math.IsNaN(f) || math.IsInf(f, 0) {
			p.Unless(false, at, "%v is no number", f)
			return
		}
		p.Unless(negative || f >= 0, at, "%v is negative", f)
	}
}

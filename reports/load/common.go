package load

import (
	"maps"
	"reflect"
	"slices"
)

// fewAlike is the number of times that a reason may be repeated.
const fewAlike = 2

// Common returns the most frequent reason of the unknown answers and findings, and l
// without it, so that a view shows it once. It returns "" and an equal l if no reason
// occurs more than fewAlike times.
func (l Limiter) Common() (why string, rest Limiter) {
	rest = l
	rest.Layers, rest.Sharing = slices.Clone(l.Layers), slices.Clone(l.Sharing)
	unknown := map[string][]*string{}
	reasons(reflect.ValueOf(&rest).Elem(), unknown)
	delete(unknown, "")
	for _, reason := range slices.Sorted(maps.Keys(unknown)) {
		if len(unknown[reason]) > max(fewAlike, len(unknown[why])) {
			why = reason
		}
	}
	for _, at := range unknown[why] {
		*at = ""
	}
	return why, rest
}

// reasons collects the reasons of the unknown answers and findings in a part of a limiter.
func reasons(part reflect.Value, unknown map[string][]*string) {
	switch at := part.Addr().Interface().(type) {
	case *Answer:
		if at.Value == "" {
			unknown[at.Why] = append(unknown[at.Why], &at.Why)
		}
		return
	case *Finding:
		if !at.Known {
			unknown[at.Why] = append(unknown[at.Why], &at.Why)
		}
		return
	}
	switch part.Kind() {
	case reflect.Struct:
		for i := range part.NumField() {
			reasons(part.Field(i), unknown)
		}
	case reflect.Slice:
		for i := range part.Len() {
			reasons(part.Index(i), unknown)
		}
	}
}

package view

import (
	"io"
	"reflect"

	"outreach.example/conformance/internal/printable"
)

// safe returns the view for results whose texts are printable.
func safe[T any](v View[T]) View[T] {
	return func(w io.Writer, results T, o Options) error { return v(w, clean(results), o) }
}

// clean returns a copy of a value in which each text is printable: as one line, or as several
// of a body or an error. So no template needs to remember it.
func clean[T any](value T) T {
	return cleanWith(value, func(field, text string) string {
		if field == "Body" || field == "RequestBody" || field == "What" {
			return printable.Lines(text)
		}
		return printable.Text(text)
	})
}

func cleanWith[T any](value T, text func(field, text string) string) (all T) {
	reflect.ValueOf(&all).Elem().Set(cleaned(reflect.ValueOf(&value).Elem(), "", text))
	return all
}

func cleaned(v reflect.Value, field string, text func(field, text string) string) reflect.Value {
	all := reflect.New(v.Type()).Elem()
	all.Set(v)
	switch v.Kind() {
	case reflect.String:
		all.SetString(text(field, v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			all.Set(reflect.New(v.Type().Elem()))
			all.Elem().Set(cleaned(v.Elem(), field, text))
		}
	case reflect.Slice:
		if !v.IsNil() {
			all.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		}
		for i := range v.Len() {
			all.Index(i).Set(cleaned(v.Index(i), field, text))
		}
	case reflect.Map:
		if !v.IsNil() {
			all.Set(reflect.MakeMap(v.Type()))
		}
		for key, value := range v.Seq2() {
			all.SetMapIndex(cleaned(key, field, text), cleaned(value, field, text))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if of := v.Type().Field(i); of.IsExported() {
				all.Field(i).Set(cleaned(v.Field(i), of.Name, text))
			}
		}
	}
	return all
}

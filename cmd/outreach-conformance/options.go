package main

// This file binds a command's options to its flags and their environment variables.
// A command has one struct, whose fields are its flags:
//
//	Rate  float64 `flag:"rate,r" usage:"requests per second"`
//	Limit *int    `flag:"limit" usage:"…"` // nil unless it is given
//
// A field keeps its value as the default. Structs within the struct have flags too; of two
// with one name, the outer one counts. A layout says which of the flags the command has.

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpHeading is the annotation of a flag with its heading in the help.
const helpHeading = "outreach_help_group"

// Set is the flags of a command, bound to its options.
type Set struct {
	Flags  *pflag.FlagSet
	fields map[string]reflect.Value // by flag
	given  []func()                 // set what is nil unless it is given
}

// Bind adds flags for the struct that options points to. Each line of the layout is a heading
// of the help and the flags below it, in their order:
//
//	Load: rate limit
//
// Words are pairs of a word in a usage, in braces, and its replacement.
func Bind(flags *pflag.FlagSet, options any, layout string, words ...string) *Set {
	flags.SortFlags = false
	s := &Set{Flags: flags, fields: map[string]reflect.Value{}}
	tags, replacer := map[string]reflect.StructTag{}, strings.NewReplacer(words...)
	s.collect(reflect.ValueOf(options).Elem(), tags)
	for line := range strings.Lines(layout) {
		under, names, _ := strings.Cut(line, ":")
		for _, name := range strings.Fields(names) {
			s.add(name, tags[name], replacer)
			if under != "" {
				flags.Lookup(name).Annotations = map[string][]string{helpHeading: {under}}
			}
		}
	}
	return s
}

// collect finds the fields with flags, those of the outer structs first.
func (s *Set) collect(v reflect.Value, tags map[string]reflect.StructTag) {
	var within []reflect.Value
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("flag"), ",")
		switch _, known := tags[name]; {
		case name != "" && !known:
			s.fields[name], tags[name] = v.Field(i), field.Tag
		case name == "" && field.Type.Kind() == reflect.Struct && (field.IsExported() || field.Anonymous):
			within = append(within, v.Field(i))
		}
	}
	for _, one := range within {
		s.collect(one, tags)
	}
}

// Given reports whether a flag was given, here or in the environment.
func (s *Set) Given(name string) bool { return s.Flags.Changed(name) }

// Value returns the value of an option by its flag.
func (s *Set) Value(name string) any { return s.fields[name].Interface() }

// Parsed completes the options once the flags are parsed.
func (s *Set) Parsed() {
	for _, set := range s.given {
		set()
	}
}

// add adds the flag of a field. A pointer is set once its flag is given.
func (s *Set) add(name string, tag reflect.StructTag, words *strings.Replacer) {
	field := s.fields[name]
	to := field
	if field.Kind() == reflect.Pointer {
		to = reflect.New(field.Type().Elem()).Elem()
		s.given = append(s.given, func() {
			if s.Given(name) {
				field.Set(to.Addr())
			}
		})
	}
	_, short, _ := strings.Cut(tag.Get("flag"), ",")
	usage := words.Replace(tag.Get("usage"))
	switch p := to.Addr().Interface().(type) {
	case *string:
		s.Flags.StringVarP(p, name, short, *p, usage)
	case *bool:
		s.Flags.BoolVarP(p, name, short, *p, usage)
	case *int:
		s.Flags.IntVarP(p, name, short, *p, usage)
	case *uint64:
		s.Flags.Uint64VarP(p, name, short, *p, usage)
	case *float64:
		s.Flags.Float64VarP(p, name, short, *p, usage)
	case *time.Duration:
		s.Flags.DurationVarP(p, name, short, *p, usage)
	case *[]string:
		if _, whole := tag.Lookup("whole"); whole { // values may hold commas
			s.Flags.StringArrayVarP(p, name, short, *p, usage)
		} else {
			s.Flags.StringSliceVarP(p, name, short, *p, usage)
		}
	case *[]int:
		s.Flags.IntSliceVarP(p, name, short, *p, usage)
	case *[]time.Duration:
		s.Flags.DurationSliceVarP(p, name, short, *p, usage)
	case *map[string]int:
		s.Flags.StringToIntVarP(p, name, short, *p, usage)
	default:
		panic(fmt.Sprintf("options: --%s is a %T", name, p))
	}
	if bare, ok := tag.Lookup("bare"); ok { // what the flag without a value means
		s.Flags.Lookup(name).NoOptDefVal = bare
	}
}

// helpWidth is the number of columns at which the help wraps.
const helpWidth = 100

// groups returns the help of the flags under their headings, in the order of binding.
// Flags without a heading come last.
func groups(flags *pflag.FlagSet) string {
	const other = "Other"
	sets, headings := map[string]*pflag.FlagSet{}, []string{}
	flags.VisitAll(func(f *pflag.Flag) {
		under := other
		if given := f.Annotations[helpHeading]; given != nil {
			under = given[0]
		}
		if sets[under] == nil {
			sets[under] = pflag.NewFlagSet(under, pflag.ContinueOnError)
			sets[under].SortFlags = false
			headings = append(headings, under)
		}
		sets[under].AddFlag(f)
	})
	if i := slices.Index(headings, other); i >= 0 {
		headings = append(slices.Delete(headings, i, i+1), other)
	}
	var texts []string
	for _, under := range headings {
		texts = append(texts, under+":\n"+sets[under].FlagUsagesWrapped(helpWidth))
	}
	return strings.TrimRight(strings.Join(texts, "\n"), "\n")
}

// GroupHelp makes the command and its subcommands show their flags below headings.
func GroupHelp(root *cobra.Command) {
	cobra.AddTemplateFunc("flagGroups", groups)
	const all = "Flags:\n{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}"
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), all, "{{flagGroups .LocalFlags}}", 1))
}

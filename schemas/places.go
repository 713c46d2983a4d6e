package schemas

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/xeipuuv/gojsonschema"
)

// rule is what a schema says of one value, as far as messages need it.
type rule struct {
	Ref                     string `json:"$ref"`
	Definitions, Properties map[string]*rule
	PropertyNames, Items    *rule
	AdditionalProperties    *rule
	Required, Enum          []string
	ErrorMessage            string
	Secret                  bool `json:"x-secret"`
}

// UnmarshalJSON takes true and false, too, which say nothing of a value.
func (r *rule) UnmarshalJSON(text []byte) error {
	if text[0] != '{' {
		return nil
	}
	type plain rule
	return json.Unmarshal(text, (*plain)(r))
}

// Problems returns what is wrong at each place of the document, such as keys[3].state, for users
// who write the file by hand. It is the errorMessage of the schema, with the value unless the
// schema marks it x-secret.
func (s *Schema) Problems(document []byte) (map[string]string, error) {
	var root rule
	if err := json.Unmarshal(s.text, &root); err != nil {
		return nil, err
	}
	follow := func(r *rule) *rule {
		for r != nil && r.Ref != "" {
			r = root.Definitions[strings.TrimPrefix(r.Ref, "#/definitions/")]
		}
		return cmp.Or(r, &rule{})
	}
	errs, err := s.validate(document)
	found := map[string]string{}
	for _, e := range errs {
		const delimiter = "\xff" // a byte that UTF-8 does not have
		at, path := &root, ""
		for _, token := range strings.Split(e.Context().String(delimiter), delimiter)[1:] {
			if at.Items != nil {
				path += "[" + token + "]"
			} else {
				path += "." + token
			}
			at = follow(cmp.Or(at.Properties[token], at.AdditionalProperties, at.Items))
		}
		property, _ := e.Details()["property"].(string)
		below := strings.Trim(path+"."+property, ".")
		switch e.(type) {
		case *gojsonschema.RequiredError:
			if slices.Contains(at.Required, property) { // else an alternative requires it, and the choice is an error, too
				found[below] = strings.TrimSuffix("is missing ("+follow(at.Properties[property]).ErrorMessage+")", " ()")
			}
		case *gojsonschema.AdditionalPropertyNotAllowedError:
			found[below] = "is unknown (known here: " + strings.Join(slices.Sorted(maps.Keys(at.Properties)), ", ") + ")"
		case *gojsonschema.InvalidPropertyNameError:
			found[below] = follow(at.PropertyNames).problem(property)
		default:
			if _, isName := e.Value().(string); !isName || at.Properties == nil && at.AdditionalProperties == nil { // else the name is an error itself
				found[strings.Trim(path, ".")] = cmp.Or(at.problem(e.Value()), e.Description())
			}
		}
	}
	return found, err
}

// problem says what is wrong with a value, or "" if the schema has no words for it.
func (r *rule) problem(value any) string {
	text, isText := value.(string)
	switch {
	case r.ErrorMessage == "" && r.Enum != nil:
		return fmt.Sprintf("%q is not one of %s", text, strings.Join(r.Enum, ", "))
	case isText && r.ErrorMessage != "" && !r.Secret:
		return fmt.Sprintf("%s, found %q", r.ErrorMessage, text)
	}
	return r.ErrorMessage
}

// boundedDuration is the name of a format, such as "duration up to 10m".
var boundedDuration = regexp.MustCompile(`"(duration up to (\w+))"`)

// addFormats makes gojsonschema check the bounded durations of a schema.
func addFormats(schema []byte) {
	for _, format := range boundedDuration.FindAllStringSubmatch(string(schema), -1) {
		most, _ := time.ParseDuration(format[2])
		gojsonschema.FormatCheckers.Add(format[1], upTo(most))
	}
}

type upTo time.Duration

// IsFormat reports whether the value is a duration within the bound.
func (most upTo) IsFormat(value any) bool {
	text, _ := value.(string)
	d, err := time.ParseDuration(text)
	return err == nil && 0 <= d && d <= time.Duration(most)
}

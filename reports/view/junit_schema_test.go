package view_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/reports/view"
)

// element says what a public schema allows in an element: attributes with the pattern of
// their values (required ones end in "!"), and children by a pattern of their names.
type element struct {
	attributes map[string]string
	children   string
	text       bool
}

const (
	anyText   = `(?s).*`
	token     = `(?s).+`
	whole     = `-?[0-9]+`
	decimal   = `[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)`
	surefire  = `(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]*)?`
	timestamp = `[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}`
)

// The rules of junit-10.xsd of the xunit plugin of Jenkins, but for elements of reruns.
var jenkins = map[string]element{
	"testsuites": {attributes: map[string]string{"name": anyText, "time": surefire, "tests": anyText, "failures": anyText, "errors": anyText}, children: `(testsuite )*`},
	"testsuite": {attributes: map[string]string{
		"name!": anyText, "tests!": anyText, "failures!": anyText, "errors!": anyText, "group": anyText, "time": surefire, "skipped": anyText,
		"timestamp": anyText, "hostname": anyText, "id": anyText, "package": anyText, "file": anyText, "log": anyText, "url": anyText,
	}, children: `(testsuite |properties |testcase |system-out |system-err )*`},
	"properties": {children: `(property )*`},
	"property":   {attributes: map[string]string{"name!": anyText, "value!": anyText}},
	"testcase": {
		attributes: map[string]string{"name!": anyText, "time": anyText, "classname": anyText, "group": anyText},
		children:   `(skipped |error |failure |system-out |system-err )*`,
	},
	"skipped":    {attributes: map[string]string{"type": anyText, "message": anyText}, text: true},
	"error":      {attributes: map[string]string{"type": anyText, "message": anyText}, text: true},
	"failure":    {attributes: map[string]string{"type": anyText, "message": anyText}, text: true},
	"system-out": {text: true},
	"system-err": {text: true},
}

// The rules of JUnit.xsd of Windy Road, which describes the files of Ant.
var windyRoad = map[string]element{
	"testsuites": {children: `(testsuite )*`},
	"testsuite": {attributes: map[string]string{
		"package!": anyText, "id!": whole, "name!": token, "timestamp!": timestamp, "hostname!": token,
		"tests!": whole, "failures!": whole, "errors!": whole, "skipped": whole, "time!": decimal,
	}, children: `properties (testcase )*system-out system-err `},
	"properties": {children: `(property )*`},
	"property":   {attributes: map[string]string{"name!": token, "value!": anyText}},
	"testcase": {
		attributes: map[string]string{"name!": anyText, "classname!": anyText, "time!": decimal},
		children:   `(skipped |error |failure )?`,
	},
	"skipped":    {attributes: map[string]string{"message": anyText}, text: true},
	"error":      {attributes: map[string]string{"type!": anyText, "message": anyText}, text: true},
	"failure":    {attributes: map[string]string{"type!": anyText, "message": anyText}, text: true},
	"system-out": {text: true},
	"system-err": {text: true},
}

// brokenJUnit returns what the document has that the rules do not allow.
func brokenJUnit(document []byte, rules map[string]element) []string {
	var wrong []string
	matches := func(pattern, text string) bool { return regexp.MustCompile(`^(` + pattern + `)$`).MatchString(text) }
	type open struct{ name, children string }
	var stack []open
	for d := xml.NewDecoder(bytes.NewReader(document)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return wrong
		}
		if err != nil {
			return append(wrong, err.Error())
		}
		switch t := token.(type) {
		case xml.StartElement:
			name := t.Name.Local
			if len(stack) > 0 {
				stack[len(stack)-1].children += name + " "
			}
			stack = append(stack, open{name: name})
			rule, known := rules[name]
			if !known {
				wrong = append(wrong, "element "+name)
			}
			var has []string
			for _, a := range t.Attr {
				has = append(has, a.Name.Local)
				pattern, optional := rule.attributes[a.Name.Local]
				required, needed := rule.attributes[a.Name.Local+"!"]
				if !optional && !needed || !matches(pattern+required, a.Value) {
					wrong = append(wrong, fmt.Sprintf("%s: attribute %s=%q", name, a.Name.Local, a.Value))
				}
			}
			for a := range rule.attributes {
				if needed, required := strings.CutSuffix(a, "!"); required && !slices.Contains(has, needed) {
					wrong = append(wrong, name+": no attribute "+needed)
				}
			}
		case xml.EndElement:
			last := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if !matches(rules[last.name].children, last.children) {
				wrong = append(wrong, last.name+": children "+last.children)
			}
		case xml.CharData:
			if len(stack) > 0 && !rules[stack[len(stack)-1].name].text && strings.TrimSpace(string(t)) != "" {
				wrong = append(wrong, fmt.Sprintf("%s: text %q", stack[len(stack)-1].name, t))
			}
		}
	}
}

func TestFilesFollowPublicSchemas(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "junit.xml")
	full, brief := sample.Full(), sample.Passed()
	full.Checks[0].Seconds, full.Run.Seconds = 1e-7, 12345678.9
	for name, write := range map[string]func() error{
		"run": func() error { return view.Formats["junit"].Run.Write(path, full) }, "passed": func() error { return view.Formats["junit"].Run.Write(path, brief) },
		"empty": func() error { return view.Formats["junit"].Run.Write(path, sample.Empty()) }, "load": func() error { return view.Formats["junit"].Load.Write(path, sample.FullLoad()) },
	} {
		g.Expect(write()).To(Succeed())
		text, err := os.ReadFile(path)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(brokenJUnit(text, jenkins)).To(BeEmpty(), name)
		g.Expect(brokenJUnit(text, windyRoad)).To(BeEmpty(), name)
		for _, seconds := range regexp.MustCompile(` time="([^"]*)"`).FindAllSubmatch(text, -1) {
			g.Expect(string(seconds[1])).To(MatchRegexp(`^[0-9]+\.[0-9]{3}$`), name)
		}
	}
}

func TestWhatSchemasReject(t *testing.T) {
	g := NewWithT(t)
	g.Expect(brokenJUnit([]byte(`<testsuites disabled="0"><testsuite name="a" tests="1" failures="0" errors="0" time="1e-07"><testcase status="passed" name="b"><x/></testcase></testsuite></testsuites>`), jenkins)).To(
		ConsistOf(`testsuites: attribute disabled="0"`, `testsuite: attribute time="1e-07"`, `testcase: attribute status="passed"`, "element x", "testcase: children x "))
	g.Expect(brokenJUnit([]byte(`<testsuites tests="0"><testcase name="b" time="1e-07">t<failure/><system-out/></testcase></testsuites>`), windyRoad)).To(
		ConsistOf(`testsuites: attribute tests="0"`, "testsuites: children testcase ", "testcase: no attribute classname", `testcase: attribute time="1e-07"`,
			`testcase: text "t"`, "failure: no attribute type", "testcase: children failure system-out "))
}

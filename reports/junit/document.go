package junit

import (
	"encoding/xml"
	"strconv"
)

// The elements and attributes are those that both public schemas of JUnit files allow:
// junit-10.xsd of the xunit plugin of Jenkins, and JUnit.xsd of Windy Road.

type suitesElement struct {
	XMLName xml.Name `xml:"testsuites"`
	Suite   suiteElement
}

type suiteElement struct {
	XMLName    xml.Name   `xml:"testsuite"`
	Name       string     `xml:"name,attr"`
	Package    string     `xml:"package,attr"`
	ID         int        `xml:"id,attr"`
	Timestamp  string     `xml:"timestamp,attr"`
	Hostname   string     `xml:"hostname,attr"`
	Tests      int        `xml:"tests,attr"`
	Failures   int        `xml:"failures,attr"`
	Errors     int        `xml:"errors,attr"`
	Skipped    int        `xml:"skipped,attr"`
	Time       Seconds    `xml:"time,attr"`
	Properties []property `xml:"properties>property"`
	Cases      []Testcase `xml:"testcase"`
	SystemOut  string     `xml:"system-out"`
	SystemErr  string     `xml:"system-err"`
}

type property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

// Testcase is one testcase. At most one of Skipped, Error and Failure is set.
type Testcase struct {
	Name      string   `xml:"name,attr"`
	Classname string   `xml:"classname,attr"`
	Time      Seconds  `xml:"time,attr"`
	Status    string   `xml:"-"`
	Skipped   *Problem `xml:"skipped"`
	Error     *Problem `xml:"error"`
	Failure   *Problem `xml:"failure"`
}

// Problem is why a testcase did not pass: a title in one line, and details.
type Problem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// Seconds is written as a plain decimal: many readers refuse an exponent.
type Seconds float64

// MarshalXMLAttr returns the seconds with three places.
func (s Seconds) MarshalXMLAttr(name xml.Name) (xml.Attr, error) {
	return xml.Attr{Name: name, Value: strconv.FormatFloat(float64(s), 'f', 3, 64)}, nil
}

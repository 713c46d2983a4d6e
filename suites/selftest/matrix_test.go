package selftest

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestCauseFigures(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Matrix{Defects: []DefectFate{{ID: "not counted"}}}.causeFigures()).To(BeEmpty())
	var m Matrix
	for range 95 {
		m.Defects = append(m.Defects, DefectFate{ID: "one", Requirement: "A", Operation: "b", Causes: []string{"A on b"}})
	}
	for range 4 {
		m.Defects = append(m.Defects, DefectFate{ID: "two", Requirement: "A", Operation: "b", Causes: []string{"C on b", "A on b"}})
	}
	m.Defects = append(m.Defects, DefectFate{ID: "six", Requirement: "A", Operation: "b", Causes: []string{"A on b", "", "", "", "", ""}})
	g.Expect(m.causeFigures()).To(Equal("causes for each defect: median 1, 95 % ≤ 1, worst 6 (six); the broken check comes first for 96 of 100"))
}

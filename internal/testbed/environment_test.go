package testbed

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestProgramsInheritNoSettingsOfTests(t *testing.T) {
	t.Setenv("OUTREACH_TARGET", "http://127.0.0.1:9")
	t.Setenv("GOGC", "400")
	t.Setenv("GOGCTRACE", "kept")
	NewWithT(t).Expect(Environment()).To(And(
		ContainElement("GOGCTRACE=kept"),
		Not(ContainElement(HavePrefix("OUTREACH_"))),
		Not(ContainElement(HavePrefix("GOGC="))),
	))
}

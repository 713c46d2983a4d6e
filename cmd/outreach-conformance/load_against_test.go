package main

import (
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/profile"
)

// The profile names the first target. The second one, such as the next release, is named
// by its address.
func TestTheSecondTargetIsNamedByItsAddress(t *testing.T) {
	g := NewWithT(t)
	first := &profile.Profile{Name: "Acme Outreach (Java)", Version: "0.9.1", Vendor: "Acme", BaseURL: "http://127.0.0.1:8025"}
	second, err := secondTarget(first, "http://127.0.0.1:8026/")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(second.Profile).To(And(HaveField("Name", "http://127.0.0.1:8026"), HaveField("Version", ""), HaveField("Vendor", "")))
	g.Expect(first.Name).To(Equal("Acme Outreach (Java)"))
	g.Expect(first.Version).To(Equal("0.9.1"))
}

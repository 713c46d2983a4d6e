package target

import (
	"context"
	"errors"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures"
)

func TestURL(t *testing.T) {
	for _, tc := range []struct{ name, profile, given, want string }{
		{"of the profile", "https://api.example.com", "", "https://api.example.com"},
		{"given", "", "http://127.0.0.1:8080", "http://127.0.0.1:8080"},
		{"given over the profile's", "https://api.example.com", "http://127.0.0.1:8080", "http://127.0.0.1:8080"},
		{"slash at the end", "", "https://api.example.com/mock/", "https://api.example.com/mock"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			profile := &fixtures.Profile{Name: "x", BaseURL: tc.profile}
			target, err := URL(profile, tc.given)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(target.BaseURL).To(Equal(tc.want))
			g.Expect(target.Profile.BaseURL).To(Equal(tc.want))
			g.Expect(target.Kind).To(Equal(KindURL))
			g.Expect(profile.BaseURL).To(Equal(tc.profile), "the caller's profile stays as it is")
			g.Expect(target.Close(t.Context())).To(Succeed())
		})
	}
}

func TestURLRejectsAddressesThatCannotBeMeant(t *testing.T) {
	for _, tc := range []struct{ address, want string }{
		{"", "set base_url"},
		{"localhost:8080", "http:// or https://"},
		{"ftp://host", "http:// or https://"},
		{"http://", "host"},
		{"http://me:hunter22@host", "keys go under"},
		{"http://host?key=hunter22", "keys go under"},
		{"http://host?", "keys go under"},
		{"http://host#hunter22", "keys go under"},
		{"http://me:hunter22@ho st", "cannot be read"},
		{"me:hunter22@host", "…@host has no http"},
		{"me:hunter@hunter22@host:8080/prefix", "…@host:8080/prefix has no http"},
		{"http:me:hunter22@host", "…@host has no http"},
		{"hunter22@host", "…@host has no http"},
		{"//me:hunter22@host", "//host has no http"},
		{"host/@path", "has no http"},
	} {
		t.Run(tc.address, func(t *testing.T) {
			g := NewWithT(t)
			_, err := URL(&fixtures.Profile{Name: "x"}, tc.address)
			g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
			g.Expect(err.Error()).NotTo(ContainSubstring("hunter22"))
		})
	}
	_, err := URL(nil, "http://host")
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("no profile")))
}

func TestCloseStopsOnce(t *testing.T) {
	g := NewWithT(t)
	stops, failure := 0, errors.New("still busy")
	target := &Target{stop: func(context.Context) error { stops++; return failure }}
	for range 3 {
		g.Expect(target.Close(t.Context())).To(MatchError(failure))
	}
	g.Expect(stops).To(Equal(1))
}

package client

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/format"
)

func TestErrorsHoldNoSecret(t *testing.T) {
	g := NewWithT(t)
	c := newClient(t, Options{BaseURL: "http://host", Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		return nil, fmt.Errorf("cannot send %v to %s", r.Header, r.URL)
	})})
	e := c.Do(t.Context(), Request{Path: "/" + mainKey.Token, Query: url.Values{"k": {mainKey.Token}}, Key: mainKey})
	g.Expect(e.Err).To(MatchError(ErrProtocol))
	g.Expect(e.Err.Error()).NotTo(ContainSubstring(mainKey.Token))
	g.Expect(e.String()).NotTo(ContainSubstring(mainKey.Token))
}

func TestPrintingAnExchangeShowsNoToken(t *testing.T) {
	g := NewWithT(t)
	newClient(t, Options{BaseURL: "http://host", Keys: []Key{mainKey}}) // knows the token
	raw := "Basic " + mainKey.Token
	e := Exchange{Request: Request{Path: "/" + mainKey.Token, Key: mainKey, Authorization: &raw}, Status: 200}
	asJSON, err := json.Marshal(e.Request.Key)
	g.Expect(err).NotTo(HaveOccurred())
	for _, printed := range []string{
		fmt.Sprintf("%v %+v %#v %s %q", e, e, e, e, e),
		fmt.Sprintf("%v %+v %#v %s %q", mainKey, mainKey, mainKey, mainKey, mainKey),
		fmt.Sprintf("%+v", Request{Key: mainKey}),
		format.Object(e, 1),
		format.Object([]Request{{Key: mainKey}}, 1),
		string(asJSON),
	} {
		g.Expect(printed).NotTo(ContainSubstring(mainKey.Token))
	}
	g.Expect(Key{}.String()).To(Equal("no key"))
}

func TestKeyEnv(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Key{Name: "main-inbox_placement.tests-ü2"}.Env()).To(Equal("OUTREACH_KEY_MAIN_INBOX_PLACEMENT_TESTS__2"))
	g.Expect(Key{Token: "x"}.Env()).To(Equal("OUTREACH_KEY"))
	g.Expect(Key{Name: "main", Variable: "ACME_TOKEN"}.Env()).To(Equal("ACME_TOKEN"), "the user's own variable")
}

package inspect

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/internal/client"
)

func TestNoSecretsAreShown(t *testing.T) {
	g := NewWithT(t)
	const foreign = "secret-token-of-somebody-else"
	_, err := client.New(client.Options{BaseURL: "http://target.example", Keys: []client.Key{{Name: "other", Token: foreign}}})
	g.Expect(err).NotTo(HaveOccurred())
	bad := answering(500, "your key is "+token+", another is "+foreign)
	bad.Path += "&search=" + foreign
	r := inspected(newInspector(t, Options{}), bad)
	shown, err := json.Marshal(r.Checks)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(shown)).To(ContainSubstring("your key is"))
	g.Expect(string(shown)).NotTo(ContainSubstring(token))
	g.Expect(string(shown)).NotTo(ContainSubstring(foreign))
}

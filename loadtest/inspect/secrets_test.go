package inspect

import (
	"encoding/json"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/spec"
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

// The target chooses names and values, so findings that quote them are redacted.
func TestFindingsShowNoSecrets(t *testing.T) {
	const foreign = "secret-token-of-somebody-else"
	redact.Process.Learn(foreign, "")
	redact.Process.Learn(token, "")
	said := "key " + token + " and " + foreign
	pair := spec.Pair{Requirement: "STATUS-200", Operation: spec.ListLeadLists}
	ledger := judge.NewLedger([]spec.Pair{pair})
	Enter(ledger, judge.Result{Findings: []judge.Finding{{Pair: pair, Pointer: said, Expected: said, Actual: said}}}, func(string) string { return "" })
	v := ledger.Checks()[0].Violations[0]
	for place, text := range map[string]string{"pointer": v.Pointer, "expected": v.Expected, "actual": v.Actual} {
		if !strings.HasPrefix(text, "key ") || strings.Contains(text, token) || strings.Contains(text, foreign) {
			t.Errorf("%s: %q", place, text)
		}
	}
}

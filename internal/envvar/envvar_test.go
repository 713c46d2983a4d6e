package envvar_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/internal/envvar"
)

func TestUnknown(t *testing.T) {
	g := NewWithT(t)
	environ := []string{
		"OUTREACH_TRAGET=http://127.0.0.1:1", "OUTREACH_TARGET=embedded", "OUTREACH_PAGE_SIZE=10",
		"OUTREACH_KEY_MAIN=k", "OUTREACH_KEY=k", "OUTREACH_URL=u", "OUTREACH_MINT_ROLE=main", "OUTREACH_REQUIRE_DOCKER=1",
		"OUTREACH_EMPTY=", "PATH=/bin", "MY_OUTREACH_TARGET=x",
	}
	g.Expect(envvar.Unknown(environ, []string{"target", "page-size"})).To(Equal([]string{"OUTREACH_TRAGET"}))
	g.Expect(envvar.Unknown(environ, []string{"target"})).To(Equal([]string{"OUTREACH_PAGE_SIZE", "OUTREACH_TRAGET"}))
}

func TestFlagsAndVariables(t *testing.T) {
	g := NewWithT(t)
	g.Expect(envvar.OfFlag("page-size")).To(Equal("OUTREACH_PAGE_SIZE"))
	g.Expect(envvar.Flag("OUTREACH_PAGE_SIZE")).To(Equal("page-size"))
}

// Whatever the environment holds, a variable of the project is known or reported.
func FuzzUnknown(f *testing.F) {
	for _, seed := range []string{"OUTREACH_TARGET=x", "OUTREACH_=x", "OUTREACH_KEY_A=x", "=x", "OUTREACH_target=1", "OUTREACH_TARGT", "PATH=/bin"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, entry string) {
		name, value, _ := strings.Cut(entry, "=")
		known := value == "" || !strings.HasPrefix(name, envvar.Prefix) || envvar.IsReserved(name) || name == envvar.OfFlag("target")
		if got := envvar.Unknown([]string{entry}, []string{"target"}); len(got) == 0 != known {
			t.Errorf("%q: %q", entry, got)
		}
	})
}

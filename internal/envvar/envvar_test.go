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

// Kubernetes sets variables beside each Service. They are nobody's misspelt flags.
func TestVariablesOfServices(t *testing.T) {
	g := NewWithT(t)
	for _, service := range []string{"OUTREACH", "OUTREACH_API", "OUTREACH_API_2"} {
		g.Expect(envvar.Unknown([]string{
			service + "_SERVICE_HOST=10.96.0.7", service + "_SERVICE_PORT=80", service + "_SERVICE_PORT_HTTP_ALT=80", service + "_PORT=tcp://10.96.0.7:80",
			service + "_PORT_80_TCP=tcp://10.96.0.7:80", service + "_PORT_80_TCP_PROTO=tcp", service + "_PORT_80_TCP_PORT=80", service + "_PORT_80_TCP_ADDR=10.96.0.7",
			service + "_PORT_53_UDP=udp://10.96.0.7:53", service + "_PORT_9_SCTP_ADDR=10.96.0.7",
		}, nil)).To(BeEmpty())
	}
	misspelt := []string{"OUTREACH_API_PORT_80=x", "OUTREACH_API_PORT_80_TCP_NAME=x", "OUTREACH_PORT=8080", "OUTREACH_REPORT=x", "OUTREACH_SERVICE=x", "OUTREACH_TARGT=x"}
	g.Expect(envvar.Unknown(misspelt, nil)).To(HaveLen(len(misspelt)))
}

// Whatever the environment holds, a variable of the project is known or reported.
func FuzzUnknown(f *testing.F) {
	for _, seed := range []string{"OUTREACH_TARGET=x", "OUTREACH_=x", "OUTREACH_KEY_A=x", "=x", "OUTREACH_target=1", "OUTREACH_TARGT", "PATH=/bin"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, entry string) {
		name, value, _ := strings.Cut(entry, "=")
		known := value == "" || !strings.HasPrefix(name, envvar.Prefix) || envvar.IsReserved(name) || name == envvar.OfFlag("target")
		ofService := strings.HasSuffix(name, "SERVICE_HOST") || strings.Contains(name, "PORT") // see TestVariablesOfServices
		if got := envvar.Unknown([]string{entry}, []string{"target"}); len(got) == 0 != known && !ofService {
			t.Errorf("%q: %q", entry, got)
		}
	})
}

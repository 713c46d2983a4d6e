package loadtest

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// ErrConsent means that the target is not on this machine and nobody consented
// to the load.
var ErrConsent = errors.New("load needs consent")

// Consented returns nil if the target may be loaded: it is on this machine, or
// a consent names its host. Any name other than localhost needs consent,
// whatever it resolves to.
func Consented(base string, consents ...string) error {
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "" {
		return fmt.Errorf("loadtest: the target's address has no host (want https://host/prefix)")
	}
	host := u.Hostname()
	switch {
	case loopback(host):
		return nil
	case len(consents) == 0:
		return fmt.Errorf("%w: %s is not this machine, and load may harm its users (if you may load it: --consent %s)", ErrConsent, host, host)
	case !slices.Contains(consents, host):
		return fmt.Errorf("%w: --consent names %q, the target is %q", ErrConsent, strings.Join(consents, ", "), host)
	}
	return nil
}

func loopback(host string) bool {
	if strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") { // a trailing dot marks a complete name
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}

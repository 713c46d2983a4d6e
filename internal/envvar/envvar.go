// Package envvar names the environment variables of the project. All of them
// begin with Prefix, so that a misspelt one can be told from those of others. It
// imports nothing of this module.
package envvar

import (
	"regexp"
	"slices"
	"strings"
)

// Prefix begins the name of each variable.
const Prefix = "OUTREACH_"

// OfFlag returns the variable that sets a flag of the program.
func OfFlag(name string) string {
	return Prefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// Flag returns the name of the flag that a variable sets, or would set.
func Flag(variable string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(variable, Prefix), "_", "-"))
}

// ofService matches the variables that Kubernetes sets in every pod beside a Service
// whose name begins with "outreach".
var ofService = regexp.MustCompile(`^` + Prefix + `([A-Z0-9_]+_)?(SERVICE_HOST=|SERVICE_PORT(_[A-Z0-9_]+)?=|PORT=\w+://|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?=)`)

// Unknown returns the variables of environ, sorted, that have a value but no
// meaning: they set none of the flags, are not reserved, and are not of a Service.
func Unknown(environ, flags []string) []string {
	var unknown []string
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if value == "" || !strings.HasPrefix(name, Prefix) || IsReserved(name) || ofService.MatchString(entry) ||
			slices.ContainsFunc(flags, func(flag string) bool { return OfFlag(flag) == name }) {
			continue
		}
		unknown = append(unknown, name)
	}
	slices.Sort(unknown)
	return unknown
}

// IsReserved reports whether the variable has a meaning without being a flag's:
// API keys, the address in printed commands, the input of a mint command, or a
// setting of the project's own tests.
func IsReserved(name string) bool {
	name = strings.TrimPrefix(name, Prefix)
	return strings.HasPrefix(name, "KEY_") || strings.HasPrefix(name, "MINT_") ||
		slices.Contains([]string{"KEY", "URL", "REQUIRE_DOCKER", "REQUIRE_BROWSER", "REQUIRE_QUIET"}, name)
}

package suites

import (
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// customTagMappings judges listing the tags of accounts and campaigns.
func customTagMappings() {
	Describe(spec.ListTagMappings, func() {
		documentedShape(readEachWay)
	})
}

var tagMappingFilters = []filter{resourceIDs()}

// resourceIDs filters by one resource, and by several in a comma-separated list.
func resourceIDs() filter {
	const missing, extra = spec.FilterResourceIDSMissing, spec.FilterResourceIDSExtra
	return filter{"filters by resource ids", []spec.ID{missing, extra}, func(rows []map[string]any) []probe {
		ids := distinct(rows, "resource_id")
		var probes []probe
		for n := 1; n <= len(ids); n++ {
			wanted := ids[:n]
			probes = append(probes, probe{map[string]string{profile.ParamResourceIDs: strings.Join(wanted, ",")}, func(row map[string]any) (spec.ID, bool) {
				if slices.Contains(wanted, scalar(row["resource_id"])) {
					return missing, true
				}
				return extra, false
			}})
		}
		return probes
	}}
}

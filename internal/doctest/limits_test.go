package doctest

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// limit is a bound of the program that docs/limits.md lists. To add one, add a row here and
// run make generate.
type limit struct {
	group, directory, constant string
	what, setting, reason      string // setting is where a user changes it; empty for nowhere
}

var limits = []limit{
	{"Responses", "internal/client", "DefaultMaxBody", "bytes of a body, decoded", "", "longer bodies are not judged, and never fail a server"},
	{"Responses", "internal/client", "truncatedBody", "bytes kept of a longer body", "", "evidence needs only the beginning"},
	{"Responses", "internal/client", "maxHeader", "bytes of a header block", "", "a response without an end must end"},
	{"Responses", "schemas", "maxMemory", "bytes of memory of a decoded body", "", "an object of 7 bytes takes 300"},
	{"Responses", "schemas", "maxText", "bytes kept of a text or a name", "", "evidence needs the beginning, the length and a digest"},
	{"Responses", "schemas", "maxDepth", "nested JSON values", "", "documented shapes are flat, and the reader is recursive"},
	{"Responses", "schemas", "maxNumberLength", "characters of a JSON number", "", "arithmetic on longer numbers takes minutes; those beyond float64 are not read either"},
	{"Responses", "schemas", "maxExtra", "undocumented fields that are observed, for each response", "", "a response may have thousands"},
	{"Responses", "internal/har", "maxPairs", "headers, parameters or cookies of a recorded exchange", "", "an empty one takes 2 bytes in a file, and 32 in memory"},
	{"Responses", "internal/har", "maxBlanks", "bytes of white space in a row in a recording", "", "a JSON reader looks at it again and again"},
	{"Responses", "internal/judge", "maxCited", "exchanges that the results name for each check", "", "the recording has all"},
	{"Responses", "internal/judge", "maxRows", "rows of a response that are checked", "", "a page has at most 100"},
	{"Responses", "internal/client", "commonBodies", "bytes that the bodies in flight share", "`GOMEMLIMIT` for all memory", "16 bodies of 8 MiB would be 128 MiB"},
	{"Responses", "suites", "maxJudging", "bytes of memory of the responses that are judged at the same time", "", "as above, decoded"},
	{"Responses", "suites", "maxListRows", "rows of a list that specs read whole", "", "checks that need a longer one are left out, and the run says so before it begins"},
	{"Responses", "suites", "maxListPages", "pages of such a list", "", "as above"},
	{"Responses", "suites", "maxLists", "bytes of memory of the rows of all these lists", "", "as above; the longest lists are left out"},
	{"Responses", "suites", "largeLists", "bytes of memory of these rows from which on few specs run at the same time", "", "each of them keeps rows of its own, too"},
	{"Responses", "suites", "fewSpecs", "specs that then run at the same time", "", "as above"},
	{"Responses", "suites", "samplePages", "pages of a longer list that the checks of single rows read", "", "each row is judged by itself"},
	{"Responses", "suites", "maxKept", "bytes that all specs keep of their responses", "`pace.concurrency`", "checks that need more are not assessed"},
	{"Responses", "internal/paging", "maxList", "bytes kept of a list outside the specs", "", "`cleanup` and `target init` look for a few rows"},
	{"Responses", "internal/paging", "maxKey", "bytes of the key of a row", "", "longer ids are compared by their digest"},
	{"Responses", "internal/judge", "maxReadable", "bytes of an error page that are read", "", "its reason stands at the beginning"},

	{"Time", "internal/evidence", "maxTook", "a recorded exchange", "", "a wrong time would stop the clock of a replay"},
	{"Time", "internal/client", "DefaultTimeout", "a request, to the last byte", "`pace.timeout`, `--timeout`", "a server that hangs must not hang the run"},
	{"Time", "fixtures/profile", "maxTimeout", "largest timeout of a profile", "", "longer ones are mostly a wrong unit"},
	{"Time", "fixtures/profile", "maxWait", "largest wait for a target that starts", "", "CI jobs end after hours"},
	{"Time", "suites/runner", "maxUnanswered", "timeouts, or refused connections, in a row that end a run", "", "each one takes the whole timeout"},
	{"Time", "suites/runner", "maxClosed", "closed connections without a response, in a row, that end a run", "", "a restart closes many at once"},
	{"Time", "suites", "DefaultSpecTimeout", "one spec", "`pace.spec_timeout`", "what it did not judge is not assessed"},
	{"Time", "internal/client", "DefaultPatience", "nothing but 429 from the target", "`pace.patience`, `--patience`", "a limiter recovers sooner, or not at all"},
	{"Time", "internal/client", "DefaultMaxThrottle", "only 429 to a key on one operation", "twice `pace.patience`", "as above; other operations may still answer"},
	{"Time", "fixtures/profile", "maxPatience", "largest patience, or time of one spec, of a profile", "", "longer ones are mostly a wrong unit"},
	{"Time", "fixtures/profile", "DefaultVisibility", "a change until another view shows it", "`visible_within`", "the specification names no time"},
	{"Time", "fixtures/profile", "maxVisibility", "largest such time of a profile", "", "each test that shows late waits that long"},
	{"Time", "internal/client", "DefaultMaxThrottled", "429 responses that one request waits out", "", "a server that alternates would never end"},
	{"Time", "internal/client", "maxWait", "one wait after a 429, whatever `Retry-After` says", "", "a header must not stop a run"},
	{"Time", "internal/sandbox", "rollbackTimeout", "rolling back one spec's changes", "", "the rest is reported, and `cleanup` continues"},
	{"Time", "internal/sandbox", "afterRunTimeout", "rolling back after a run", "", "as above"},
	{"Time", "internal/sandbox", "hurriedTimeout", "the same after an interrupt", "", "a person waits"},
	{"Time", "suites/explore", "shrinkTime", "making a case of an exploration shorter", "", "each attempt sends requests"},
	{"Time", "internal/client", "settleTime", "a creation that an interrupt meets", "", "its row would have no known id"},

	{"Requests", "internal/client", "DefaultConcurrency", "requests in flight", "`pace.concurrency`, `--concurrency`", "servers in development have few workers"},
	{"Requests", "fixtures/profile", "maxUserAgent", "characters of a User-Agent", "", "servers refuse longer headers"},
	{"Requests", "fixtures/profile", "maxConcurrency", "largest concurrency of a profile", "", "file descriptors"},
	{"Requests", "fixtures/profile", "maxMinting", "mint commands at the same time", "", "they are slow on a busy machine"},
	{"Requests", "suites/runner", "mostWorkers", "cases of an exploration at the same time", "`pace.concurrency`", "each one sends requests in a row"},
	{"Requests", "suites/explore", "MaxSteps", "steps of a case of an exploration", "", "longer ones find no more"},
	{"Requests", "suites", "maxVain", "repeats of a GET on a new connection that show no other response", "", "a server that is wrong everywhere would get each request twice"},
	{"Requests", "suites", "maxListOfIDs", "bytes of a list of ids in an address", "", "a filter may take many ids"},
	{"Requests", "internal/client", "MaxURLValue", "bytes of a value of the target in an address", "", "a server may refuse a long address"},
	{"Requests", "internal/client", "maxCurlLine", "bytes of an address in a `curl` command", "", "shells bound a command line"},
	{"Requests", "internal/client", "maxCurlBody", "bytes of a body in a `curl` command", "", "shells bound a command line"},
	{"Requests", "suites/preflight", "maxPages", "pages that `target init` and `target check` read of a list", "", "they look for examples only"},

	{"Files that are read", "fixtures/profile", "maxProfileBytes", "bytes of a profile", "", "a wrong file is noticed"},
	{"Files that are read", "internal/strictyaml", "deepest", "nested YAML values", "", "the time of the parser is quadratic in the depth"},
	{"Files that are read", "fixtures/profile", "maxTokenBytes", "bytes of a `token_file`", "", "it goes into a header"},
	{"Files that are read", "fixtures/profile", "maxPEMBytes", "bytes of a certificate or key file", "", "a wrong file is noticed"},
	{"Files that are read", "internal/inputfile", "maxStdin", "bytes of the standard input", "", "it is kept in memory"},
	{"Files that are read", "loadtest/scenario", "maxFile", "bytes of a scenario file", "", "a wrong file is noticed"},
	{"Files that are read", "suites/explore", "MaxCases", "bytes of `cases.json`", "", "a wrong file is noticed"},
	{"Files that are read", "internal/sandbox/journal", "maxLine", "bytes of a line of a journal", "", "no entry is longer"},
	{"Files that are read", "reports", "MaxSize", "bytes of `results.json`", "", "no run writes more; reading takes 20 times as much memory"},
	{"Files that are read", "reports/bundle", "maxArchive", "bytes of a bundle, packed and unpacked", "", "anybody may have written it"},
	{"Files that are read", "reports/bundle", "maxEvidence", "bytes of the evidence of a run in a bundle", "", "as above"},
	{"Files that are read", "reports/bundle", "maxMember", "bytes of another file in a bundle", "", "as above"},
	{"Files that are read", "reports/bundle", "maxText", "bytes of the manifest of a bundle, and of its signature", "", "they are kept in memory"},
	{"Files that are read", "reports/bundle", "maxDirectory", "bytes of the list of files in a bundle", "", "it is kept in memory"},
	{"Files that are read", "reports/bundle", "maxMembers", "files in a bundle", "", "each has its line in the report"},
	{"Files that are read", "reports/bundle", "maxRuns", "runs in a bundle", "", "a certificate has three"},
	{"Files that are read", "reports/bundle", "maxSignatures", "signatures of a bundle", "", "each takes time"},
	{"Files that are read", "loadtest", "maxParts", "bytes of the parts of a load run", "", "a wrong file is noticed"},

	{"Reports", "reports", "MaxWritten", "characters of `results.json`", "", "reading it takes 20 times as much memory"},
	{"Reports", "internal/client", "mostHeaders", "headers of a message in an exchange", "", "the first ones show enough"},
	{"Reports", "internal/client", "mostHeader", "bytes of a header in an exchange", "", "a line must stay readable"},
	{"Reports", "internal/judge", "maxText", "characters of a text in a violation, an observation or a missing input", "", "a line must stay readable"},
	{"Reports", "internal/judge", "maxMissing", "missing inputs of a check", "", "a few show what to add"},
	{"Reports", "internal/judge", "maxObserved", "values at one open point of an operation", "", "a server may answer differently each time"},
	{"Reports", "internal/judge", "maxTrouble", "characters of a trouble", "", "it may hold a stack"},
	{"Reports", "internal/judge", "maxTroubles", "troubles", "", "the first ones show the cause"},
	{"Reports", "reports", "MaxBody", "bytes of a body in the results", "", "a few fields show the cause"},
	{"Reports", "internal/judge", "maxViolations", "violations kept for each check, each of another kind", "", "the rest is counted"},
	{"Reports", "internal/judge", "maxKinds", "kinds of violations of a check that are counted apart", "", "the rest is counted together"},
	{"Reports", "schemas", "maxActual", "characters of a value in a violation", "", "a line must stay readable"},
	{"Reports", "reports/view", "maxAnnotations", "annotations", "", "GitHub shows no more"},
	{"Reports", "reports/view", "maxRows", "rows of the job summary", "", "GitHub refuses more than 1 MiB"},
	{"Reports", "fixtures/target", "maxLogBytes", "bytes of a container log", "", "a container may write without an end"},

	{"Load", "loadtest/generate", "MaxWorkers", "requests in flight", "`--concurrency`", "file descriptors and memory"},
	{"Load", "loadtest/schedule", "MaxRate", "requests per second of a schedule", "`load.max_rate`", "no generator sends more"},
	{"Load", "loadtest/schedule", "MaxDuration", "all phases together", "", "counters stay exact"},
	{"Load", "loadtest/inspect", "maxShared", "bytes that the bodies in flight share", "", "2,048 bodies of 8 MiB would fill the machine; what is beyond is timed, and not inspected"},
	{"Load", "loadtest/prepare", "maxStock", "rows that are created in advance", "", "they must be deleted again"},
	{"Load", "loadtest/runner", "mostPagesOfWalk", "pages of one walk", "", "a list may have no end"},
}

// bounded are packages that read what comes from outside. Each constant there whose name
// says that it bounds something is a row above, or named here because it does not.
var bounded = map[string][]string{
	"internal/client":          {"IdleTimeout", "firstWait", "shortWait", "most"},
	"internal/inputfile":       nil,
	"internal/strictyaml":      nil,
	"internal/sandbox/journal": nil,
	"internal/judge":           {"most"},
	"reports/bundle":           nil,
	"fixtures/profile":         {"DefaultTimeout", "DefaultConcurrency", "DefaultWaitTimeout", "DefaultMintTimeout", "maxMintTimeout", "maxWaitTimeout", "maxRequestsPerSecond", "longest"},
	"suites/runner":            {"closeTimeout"},
}

var boundName = regexp.MustCompile(`^(max|Max|most|longest|largest|deepest)|(Timeout|Wait|Concurrency)$|^DefaultMax`)

func TestEveryBoundIsListed(t *testing.T) {
	for _, directory := range slices.Sorted(maps.Keys(bounded)) {
		for _, name := range slices.Sorted(maps.Keys(constants(t, directory))) {
			listed := slices.ContainsFunc(limits, func(l limit) bool { return l.directory == directory && l.constant == name }) ||
				slices.ContainsFunc(limits, func(l limit) bool { return strings.HasPrefix(l.directory, directory+"/") && l.constant == name })
			if boundName.MatchString(name) && !listed && !slices.Contains(bounded[directory], name) {
				t.Errorf("%s: docs/limits.md lacks the bound %s: add a row to limits, and run make generate", directory, name)
			}
		}
	}
}

// limitTables writes a table of each group.
func limitTables(t *testing.T) string {
	var b strings.Builder
	group, seen := "", map[string]bool{}
	for _, l := range limits {
		if l.group != group {
			if group = l.group; seen[group] {
				t.Fatalf("the rows of %s are apart: bring them together in limits", group)
			}
			seen[group] = true
			fmt.Fprintf(&b, "\n## %s\n\n| bound | default | setting | reason |\n|---|---:|---|---|\n", group)
		}
		values := constants(t, l.directory)[l.constant]
		if len(values) == 0 {
			t.Fatalf("%s has no constant %s: adapt limits", l.directory, l.constant)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", l.what, amount(t, values[0], strings.HasPrefix(l.what, "bytes")), l.setting, l.reason)
	}
	return b.String() + "\n"
}

var durationUnit = regexp.MustCompile(`time\.(Second|Minute|Hour|Millisecond)`)

// amount returns the value of a constant as people write it.
func amount(t *testing.T, written string, bytes bool) string {
	t.Helper()
	units := map[string]time.Duration{"Millisecond": time.Millisecond, "Second": time.Second, "Minute": time.Minute, "Hour": time.Hour}
	plain := durationUnit.ReplaceAllStringFunc(written, func(unit string) string { return fmt.Sprint(int64(units[strings.TrimPrefix(unit, "time.")])) })
	result, err := types.Eval(token.NewFileSet(), nil, token.NoPos, plain)
	if err != nil {
		t.Fatalf("%s: %v", written, err)
	}
	n, exact := constant.Int64Val(constant.ToInt(result.Value))
	switch {
	case !exact:
		t.Fatalf("%s is no whole number", written)
	case plain != written && n%int64(time.Hour) == 0:
		return fmt.Sprintf("%d h", n/int64(time.Hour))
	case plain != written && n%int64(time.Minute) == 0:
		return fmt.Sprintf("%d min", n/int64(time.Minute))
	case plain != written:
		return fmt.Sprintf("%g s", time.Duration(n).Seconds())
	case bytes && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case bytes && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return withCommas(n)
}

func withCommas(n int64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", withCommas(n/1000), n%1000)
}

func TestAmounts(t *testing.T) {
	for _, c := range []struct {
		written string
		bytes   bool
		want    string
	}{
		{"8 << 20", true, "8 MiB"}, {"64 << 10", true, "64 KiB"}, {"2048", true, "2 KiB"}, {"500", true, "500"}, {"2 * time.Minute", false, "2 min"}, {"time.Hour", false, "1 h"},
		{"90 * time.Second", false, "90 s"}, {"7 * 24 * time.Hour", false, "168 h"}, {"1_000_000", false, "1,000,000"}, {"1800 * time.Millisecond", false, "1.8 s"},
	} {
		if got := amount(t, c.written, c.bytes); got != c.want {
			t.Errorf("%s: %s, want %s", c.written, got, c.want)
		}
	}
}

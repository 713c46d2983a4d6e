package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"outreach.example/conformance/internal/envvar"
)

// meaning returns the type of a flag and the first clause of its usage. They must be the
// same on every command. The rest may differ.
func meaning(f *pflag.Flag) string {
	clause := regexp.MustCompile(`[:;,(]`).Split(f.Usage, 2)[0]
	return f.Value.Type() + " -" + f.Shorthand + " " + strings.TrimSpace(clause)
}

func everyFlag(cmd *cobra.Command, visit func(*cobra.Command, *pflag.Flag)) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && f.Name != "version" {
			visit(cmd, f)
		}
	})
	for _, below := range cmd.Commands() {
		everyFlag(below, visit)
	}
}

// All commands share one environment, so a flag name must have one meaning.
func TestFlagsHaveOneMeaning(t *testing.T) {
	type use struct{ command, meaning string }
	byName, byVariable := map[string]use{}, map[string]string{}
	everyFlag(newRoot(), func(cmd *cobra.Command, f *pflag.Flag) {
		here := use{cmd.CommandPath(), meaning(f)}
		if first, known := byName[f.Name]; known && first.meaning != here.meaning {
			t.Errorf("--%s is %q in %s, but %q in %s", f.Name, first.meaning, first.command, here.meaning, here.command)
		} else if !known {
			byName[f.Name] = here
		}
		name := envvar.OfFlag(f.Name)
		if other, taken := byVariable[name]; taken && other != f.Name {
			t.Errorf("%s is the variable of --%s and of --%s", name, other, f.Name)
		}
		byVariable[name] = f.Name
		if envvar.IsReserved(name) {
			t.Errorf("%s is the variable of --%s of %s, and has a meaning of its own", name, f.Name, here.command)
		}
	})
	if len(byName) < 40 {
		t.Errorf("only %d flags were compared", len(byName))
	}
}

// Values without sense are refused before any request, with the valid range. So are flags that
// contradict each other; the errors name both.
func TestValuesWithoutSense(t *testing.T) {
	t.Chdir(t.TempDir())
	const huge = "99999999999999999999"
	at := func(ahead time.Duration) string { return time.Now().Add(ahead).UTC().Format(time.RFC3339) }
	load := "load --target http://127.0.0.1:1 --scenario list-throughput "
	shard := load + "--seed 1 --shard 2/8 --start-at " + at(time.Hour) + " "
	for line, says := range map[string]string{
		"run --seed=-1": "whole number", "run --seed=1.5": "whole number", "run --seed=" + huge: "smaller number", "run --seed=9223372036854775808": `want at most \d+`,
		"run --rows=-1": `want 0 to \d+`, "run --rows=999999999": `want 0 to \d+`,
		"run --requests-per-second=-1": "want 0", "run --requests-per-second=NaN": "want 0", "run --requests-per-second=1e300": "want 0",
		"run --concurrency=0": "want 1 to", "run --concurrency=1000000": "want 1 to", "run --max-requests=-1": "want the maximum requests",
		"run --timeout=0s": "want more than 0s and at most", "run --timeout=100h": "want more than 0s and at most", "run --timeout=5": "a time with a unit",
		"run --wait=-1s": `want 0s \(do not wait\) to 1h0m0s`, "run --wait=100h": `want 0s \(do not wait\) to 1h0m0s`,
		"load --rows=-1": `want 0 to \d+`, "load --seed=9223372036854775808": `want at most \d+`, "load --rate=0": "rate.*is required",
		"load --rate=NaN": "rate.*want", "load --burst=49 --scenario spike": "burst.*want", "load --max-rate=249 --scenario sustained-rate": "max.rate.*want at least the initial rate",
		"load --duration=10000h": "duration.*want", "load --warmup=-1s": "warmup.*want", "load --clients=1000000 --scenario walk": "clients.*want",
		"load --page-size=101": "page.size.*want", "load --mix=lead-lists.list=-1": "mix.*want", "load --probe-budget=1000000000 --scenario rate-limit": "probe.budget.*want",
		"load --concurrency=0": "want 1 to 65536", "load --inspect-share=1.1": "want a share above 0", "load --inspect-share=NaN": "want a share above 0",
		"load --lag-limit=0s": "want more than 0", "load --max-requests=-1": "max-requests.*want", "load --timeout=100h": "want more than 0s and at most",
		load + "--listen 1.2.3.4": `--listen "1.2.3.4": no address and port`, load + "--raw=csv": "--raw=csv: unknown encoding",

		shard + "-s walk": "--shard: scenario walk is adaptive and cannot be sharded", load + "--seed 1 --shard 2/8": "--shard needs --start-at: the same time",
		load + "--seed 1 --shard 2/8 --start-at +10s":                 `--start-at \+10s: relative to the start of each shard`,
		load + "--seed 1 --shard 2/8 --start-at " + at(4*time.Second): "only .s ahead, want at least 5s|in the past", /* on a busy machine */
		shard + "--target embedded":                                   "--shard needs a --target that all shards reach", shard + "--seed 0": "--shard needs --seed",
		load + "-s walk --start-at +5s": "--start-at: scenario walk is adaptive and starts at once", load + "--print-part": "--print-part needs --shard",
		load + "--pairs 3": "--pairs needs --against", load + "--against http://127.0.0.1:2 --start-at +5s": "--against and --start-at exclude each other",
		shard + "--against http://127.0.0.1:2":        "--against and --shard exclude each other",
		load + "--against http://127.0.0.1:2 -s soak": "--against compares one scenario", "load --against http://127.0.0.1:2 -s walk": "steady, such as mixed; walk is of kind walk",
		load + "--against http://127.0.0.1:2 --pairs 2": "--pairs 2: want ", load + "--shard 9/8 --start-at now": `--shard 9/8: want the form(.|\n)*--start-at now: want a time like`,
	} {
		t.Run(line, func(t *testing.T) {
			g := NewWithT(t)
			var stdout, stderr bytes.Buffer
			g.Expect(execute(t.Context(), strings.Fields(line), &stdout, &stderr)).To(Equal(exitUsage), "%s%s", &stdout, &stderr)
			g.Expect(stderr.String()).To(MatchRegexp(says))
		})
	}
}

package tap_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/internal/loadsample"
	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/reports/junit"
	"outreach.example/conformance/reports/tap"
)

type fataler interface{ Fatalf(string, ...any) }

func written(t fataler, l junit.List) string {
	var b strings.Builder
	if err := tap.Write(&b, l); err != nil {
		t.Fatalf("%v", err)
	}
	return b.String()
}

var (
	version = "TAP version 13\n"
	plan    = regexp.MustCompile(`^1\.\.(\d+)\n`)
	// A description has no bare #, and a directive is SKIP.
	point = regexp.MustCompile(`^(not ok|ok) (\d+) - ((?:[^#\\\n]|\\[#\\])*?)( # SKIP (?:[^#\\\n]|\\[#\\])*)?\n`)
	block = regexp.MustCompile("^  ---\n  message: (\".*\")\n  severity: (\".*\")\n  data:\n    details: (\".*\")\n  \\.\\.\\.\n")
)

// counts are the results that a document has by the grammar of TAP.
type counts struct{ ok, notOK, skipped int }

// parse reads a document by the grammar. It is stricter than most parsers.
func parse(text string) (n counts, err error) {
	rest, found := strings.CutPrefix(text, version)
	planned := plan.FindStringSubmatch(rest)
	if !found || planned == nil {
		return n, fmt.Errorf("no version and plan: %.80q", text)
	}
	rest = rest[len(planned[0]):]
	for number := 1; rest != ""; number++ {
		m := point.FindStringSubmatch(rest)
		if m == nil || m[2] != fmt.Sprint(number) {
			return n, fmt.Errorf("no test point %d: %.200q", number, rest)
		}
		rest = rest[len(m[0]):]
		switch {
		case m[1] == "not ok":
			n.notOK++
			detail := block.FindStringSubmatch(rest)
			if detail == nil {
				return n, fmt.Errorf("no details: %.200q", rest)
			}
			for _, value := range detail[1:] {
				if !json.Valid([]byte(value)) {
					return n, fmt.Errorf("not a string: %s", value)
				}
			}
			rest = rest[len(detail[0]):]
		case m[4] != "":
			n.skipped++
		default:
			n.ok++
		}
	}
	if fmt.Sprint(n.ok+n.notOK+n.skipped) != planned[1] {
		return n, fmt.Errorf("%+v is not the plan %s", n, planned[1])
	}
	return n, nil
}

func TestDocumentsFollowTheGrammar(t *testing.T) {
	for name, l := range map[string]junit.List{
		"full": junit.Cases(sample.Full()), "passed": junit.Cases(sample.Passed()), "empty": junit.Cases(sample.Empty()), "load": junit.LoadCases(loadsample.Full()),
	} {
		t.Run(name, func(t *testing.T) {
			n, err := parse(written(t, l))
			if err != nil {
				t.Fatal(err)
			}
			var want counts
			for _, c := range l.Cases {
				switch {
				case c.Failure != nil || c.Error != nil:
					want.notOK++
				case c.Skipped != nil:
					want.skipped++
				default:
					want.ok++
				}
			}
			NewWithT(t).Expect(n).To(Equal(want))
		})
	}
}

// No text of a target makes a test point, a directive or a line.
func TestHostileStrings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hostile := rapid.SampledFrom([]string{"", "\nok 1 - forged", " # TODO x", "# SKIP", `\# SKIP`, "\r\nBail out!", "\x1b[31m", "\n  ...\nok", "\u202e", `\`}).Draw(t, "hostile")
		r := sample.Random(t)
		for i := range r.Checks {
			r.Checks[i].Operation += hostile
			for j := range r.Checks[i].Violations {
				v := &r.Checks[i].Violations[j]
				v.Statement, v.Expected, v.Actual = v.Statement+hostile, v.Expected+hostile, v.Actual+hostile
			}
			for j := range r.Checks[i].Missing {
				r.Checks[i].Missing[j] += hostile
			}
		}
		if _, err := parse(written(t, junit.Cases(r))); err != nil {
			t.Fatal(err)
		}
	})
}

// TAP::Parser is the parser that prove uses. Perl has it almost everywhere.
func TestTheParserOfPerlReadsIt(t *testing.T) {
	if exec.Command("perl", "-MTAP::Parser", "-e", "1").Run() != nil {
		t.Skip("no perl with TAP::Parser")
	}
	r := sample.Full()
	for i := range r.Checks {
		if r.Checks[i].Outcome == reports.Fail {
			r.Checks[i].Violations[0].Statement += " # TODO forged"
		}
	}
	text := written(t, junit.Cases(r))
	want, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	const script = `local $/; my $p = TAP::Parser->new({tap => scalar <STDIN>}); $p->run;
printf "%d %d %d %d %s", scalar($p->passed), scalar($p->failed), scalar($p->skipped), scalar($p->todo), join("; ", $p->parse_errors);`
	cmd := exec.Command("perl", "-MTAP::Parser", "-e", script)
	cmd.Stdin = strings.NewReader(text)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, &said)
	}
	NewWithT(t).Expect(said.String()).To(Equal(fmt.Sprintf("%d %d %d 0 ", want.ok+want.skipped, want.notOK, want.skipped)))
}

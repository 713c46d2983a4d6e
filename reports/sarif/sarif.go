// Package sarif shows results as SARIF 2.1.0, for code scanning. A failed check is a
// result; the path of its operation stands for the file. A failure that the owner of the
// target expects is a suppressed result. Invocation and properties hold the verdict and
// its coverage.
//
// It imports the results models and their list of findings, and judges nothing.
package sarif

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/internal/findings"
	"outreach.example/conformance/reports/load"
)

type document struct {
	Schema  string `json:"$schema"`
	Version string `json:"version"`
	Runs    []run  `json:"runs"`
}

type run struct {
	Tool        tool              `json:"tool"`
	Invocations []invocation      `json:"invocations"`
	Automation  automation        `json:"automationDetails"`
	ColumnKind  string            `json:"columnKind"`
	Results     []result          `json:"results"`
	Properties  map[string]string `json:"properties"`
}

type tool struct {
	Driver driver `json:"driver"`
}

type driver struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Rules   []rule `json:"rules"`
}

type rule struct {
	ID         string   `json:"id"`
	Short      message  `json:"shortDescription"`
	Help       *message `json:"help,omitempty"`
	Properties *tags    `json:"properties,omitempty"`
}

type tags struct {
	Tags []string `json:"tags"`
}

type message struct {
	Text string `json:"text"`
}

type automation struct {
	ID   string `json:"id"`
	GUID string `json:"guid,omitempty"`
}

type invocation struct {
	Successful    bool           `json:"executionSuccessful"`
	ExitCode      int            `json:"exitCode"`
	Start         string         `json:"startTimeUtc"`
	End           string         `json:"endTimeUtc"`
	Notifications []notification `json:"toolExecutionNotifications"`
}

type notification struct {
	Level   string  `json:"level"`
	Message message `json:"message"`
}

type result struct {
	RuleID       string            `json:"ruleId"`
	RuleIndex    int               `json:"ruleIndex"`
	Level        string            `json:"level"`
	Message      message           `json:"message"`
	Locations    []location        `json:"locations"`
	Fingerprints map[string]string `json:"partialFingerprints"`
	Occurrences  int               `json:"occurrenceCount"`
	Suppressions []suppression     `json:"suppressions,omitempty"`
}

type location struct {
	Physical physical  `json:"physicalLocation"`
	Logical  []logical `json:"logicalLocations,omitempty"`
}

type physical struct {
	Artifact artifact `json:"artifactLocation"`
	Region   region   `json:"region"`
}

type artifact struct {
	URI string `json:"uri"`
}

type region struct {
	StartLine int `json:"startLine"`
}

type logical struct {
	Name string `json:"fullyQualifiedName"`
}

type suppression struct {
	Kind          string `json:"kind"`
	Status        string `json:"status"`
	Justification string `json:"justification"`
}

// facts are what a log says about a run, whatever its command.
type facts struct {
	tool     reports.Tool
	id, of   string // the run, and its command
	started  time.Time
	seconds  float64
	judged   bool
	code     int
	verdict  string
	coverage string
	reasons  []string
	troubles []string
}

// Write writes the log of a run to w. Code is the exit code of the process.
func Write(w io.Writer, r reports.Results, code int) error {
	of := facts{tool: r.Tool, id: r.Run.ID, of: "run", started: r.Run.Started, seconds: r.Run.Seconds, judged: r.Verdict != reports.Inconclusive, code: code,
		verdict: string(r.Verdict), coverage: reports.CoverageOf(r.Checks).String(), reasons: r.Reasons}
	for _, t := range r.Troubles {
		of.troubles = append(of.troubles, t.Where+": "+t.What)
	}
	return write(w, of, findings.Of(r))
}

// WriteLoad is Write for the results of a load run.
func WriteLoad(w io.Writer, r load.Results, code int) error {
	return write(w, facts{tool: r.Tool, id: r.Run.ID, of: "load", started: r.Run.Started, seconds: r.Run.Seconds, judged: r.Verdict != reports.Inconclusive, code: code,
		verdict: string(r.Verdict), coverage: r.Coverage(), reasons: r.Reasons}, findings.OfLoad(r))
}

func write(w io.Writer, of facts, all []findings.Finding) error {
	log := run{
		Tool:        tool{driver{Name: reports.Printable(of.tool.Name), Version: reports.Printable(of.tool.Version), Rules: []rule{}}},
		Invocations: []invocation{of.invocation()}, Automation: automation{ID: "outreach-conformance/" + of.of + "/"},
		ColumnKind: "unicodeCodePoints", Results: []result{},
		Properties: map[string]string{"verdict": of.verdict, "coverage": of.coverage, "run": reports.Printable(of.id)},
	}
	for _, f := range all {
		log.add(f)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(document{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []run{log}})
}

func (of facts) invocation() invocation {
	const form = "2006-01-02T15:04:05.000Z"
	end := of.started.Add(time.Duration(of.seconds * float64(time.Second)))
	i := invocation{Successful: of.judged, ExitCode: of.code, Start: of.started.UTC().Format(form), End: end.UTC().Format(form), Notifications: []notification{}}
	for _, reason := range of.reasons {
		i.Notifications = append(i.Notifications, notification{"note", text(reason)})
	}
	for _, trouble := range of.troubles {
		i.Notifications = append(i.Notifications, notification{"warning", text(trouble)})
	}
	return i
}

// add adds a result and, if it is the first of its kind, its rule.
func (r *run) add(f findings.Finding) {
	rules := &r.Tool.Driver.Rules
	index := slices.IndexFunc(*rules, func(known rule) bool { return known.ID == f.Rule })
	if index < 0 {
		index = len(*rules)
		described := rule{ID: f.Rule, Short: text(f.Statement)}
		if f.Section != "" {
			help := text("The specification, section " + f.Section)
			described.Help = &help
		}
		if f.Group != "" {
			described.Properties = &tags{[]string{f.Group}}
		}
		*rules = append(*rules, described)
	}
	said := f.Message
	if f.Repeat != "" {
		said += "\nrepeat: " + f.Repeat
	}
	found := result{
		RuleID: f.Rule, RuleIndex: index, Level: "error", Message: text(said), Occurrences: f.Count,
		Locations:    []location{{Physical: physical{artifact{f.Path}, region{1}}}},
		Fingerprints: map[string]string{"requirementAndOperation/v1": f.Fingerprint()},
	}
	if f.Place != "" {
		found.Locations[0].Logical = []logical{{f.Place}}
	}
	if f.Waiver != nil {
		why := strings.TrimSpace(f.Waiver.Reason + " " + f.Waiver.Link)
		found.Suppressions = []suppression{{"external", "accepted", reports.Printable(why + " (until " + f.Waiver.Expires + ")")}}
	}
	r.Results = append(r.Results, found)
}

// text returns a message of printable lines. A viewer finds no link in it.
func text(s string) message {
	return message{strings.ReplaceAll(reports.PrintableLines(s), "](", "] (")}
}

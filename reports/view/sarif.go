package view

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/summary"
)

// object is a JSON object.
type object map[string]any

// sarifOfRun writes SARIF 2.1.0, for code scanning. A failed check is a result; the path of
// its operation stands for the file. A failure that the owner of the target expects is a
// suppressed result. Invocation and properties hold the verdict and its coverage.
func sarifOfRun(w io.Writer, r reports.Results, o Options) error {
	notes := notifications("note", r.Reasons)
	for _, t := range r.Troubles {
		notes = append(notes, notifications("warning", []string{t.Where + ": " + t.What})...)
	}
	return sarif(w, problemsOf(r), "run", r, summary.CoverageOf(r.Checks).String(), notes, o.ExitCode)
}

func sarifOfLoad(w io.Writer, r load.Results, o Options) error {
	return sarif(w, problemsOfLoad(r), "load", aboutLoad(r), r.Coverage(), notifications("note", r.Reasons), o.ExitCode)
}

func sarif(w io.Writer, all []problem, command string, r reports.Results, coverage string, notes []object, code int) error {
	const form = "2006-01-02T15:04:05.000Z"
	end := r.Run.Started.Add(time.Duration(r.Run.Seconds * float64(time.Second)))
	rules, results := []object{}, []object{}
	var known []string
	for _, p := range all {
		index := slices.Index(known, p.Rule)
		if index < 0 {
			index = len(known)
			known = append(known, p.Rule)
			rules = append(rules, sarifRule(p))
		}
		results = append(results, sarifResult(p, index))
	}
	return indented(w, object{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []object{{
			"tool": object{"driver": object{"name": r.Tool.Name, "version": r.Tool.Version, "rules": rules}},
			"invocations": []object{{
				"executionSuccessful": r.Verdict != reports.Inconclusive, "exitCode": code, "toolExecutionNotifications": notes,
				"startTimeUtc": r.Run.Started.UTC().Format(form), "endTimeUtc": end.UTC().Format(form),
			}},
			"automationDetails": object{"id": "outreach-conformance/" + command + "/"},
			"columnKind":        "unicodeCodePoints",
			"results":           results,
			"properties":        object{"verdict": r.Verdict, "coverage": coverage, "run": r.Run.ID},
		}},
	})
}

func sarifRule(p problem) object {
	rule := object{"id": p.Rule, "shortDescription": sarifText(p.Statement)}
	if p.Section != "" {
		rule["help"] = sarifText("The specification, section " + p.Section)
	}
	if p.Group != "" {
		rule["properties"] = object{"tags": []string{p.Group}}
	}
	return rule
}

func sarifResult(p problem, rule int) object {
	said := p.Message
	if p.Repeat != "" {
		said += "\nrepeat: " + p.Repeat
	}
	location := object{"physicalLocation": object{"artifactLocation": object{"uri": p.Path}, "region": object{"startLine": 1}}}
	if p.Place != "" {
		location["logicalLocations"] = []object{{"fullyQualifiedName": p.Place}}
	}
	result := object{
		"ruleId": p.Rule, "ruleIndex": rule, "level": "error", "message": sarifText(said), "occurrenceCount": p.Count,
		"locations": []object{location}, "partialFingerprints": object{"requirementAndOperation/v1": p.fingerprint()},
	}
	if p.Waiver != nil {
		why := strings.TrimSpace(p.Waiver.Reason+" "+p.Waiver.Link) + " (until " + p.Waiver.Expires + ")"
		result["suppressions"] = []object{{"kind": "external", "status": "accepted", "justification": why}}
	}
	return result
}

func notifications(level string, texts []string) []object {
	all := []object{}
	for _, text := range texts {
		all = append(all, object{"level": level, "message": sarifText(text)})
	}
	return all
}

// sarifText returns a message of printable lines. A viewer finds no link in it.
func sarifText(s string) object {
	return object{"text": strings.ReplaceAll(printable.Lines(s), "](", "] (")}
}

func indented(w io.Writer, value any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(value)
}

// qualityOfRun writes a code quality report of GitLab, which merge requests display. A
// failure that the owner of the target expects is not in it.
func qualityOfRun(w io.Writer, r reports.Results, _ Options) error { return quality(w, problemsOf(r)) }

func qualityOfLoad(w io.Writer, r load.Results, _ Options) error {
	return quality(w, problemsOfLoad(r))
}

func quality(w io.Writer, all []problem) error {
	issues := []object{} // GitLab needs all members
	for _, p := range all {
		if p.Waiver == nil {
			issues = append(issues, object{"description": p.Statement + " " + p.Message, "check_name": p.Rule, "fingerprint": p.fingerprint(),
				"severity": "major", "location": object{"path": p.Path, "lines": object{"begin": 1}}})
		}
	}
	return indented(w, issues)
}

package certify

import (
	"bytes"
	"regexp"
	"strings"
	"time"

	"outreach.example/conformance/reports/bundle"
)

// Kind is a way to tamper with a bundle.
type Kind struct {
	Name   string
	Change func(*Tamper)
	// Plain kinds are about digests, signatures or the archive: to recompute the digests would undo them.
	Plain bool
}

// Kinds are the ways to tamper with a bundle. Each makes one change, wherever a bundle says the thing.
var Kinds = []Kind{
	{Name: "flipped outcome", Change: checks(func(t *Tamper, all []any) []any {
		check := all[t.IntN(len(all))].(map[string]any)
		for _, c := range all { // a vendor hides a failure, if there is one
			if c := c.(map[string]any); c["outcome"] == "fail" {
				check = c
			}
		}
		if check["outcome"] == "pass" {
			check["outcome"] = "not-assessed"
		} else {
			check["outcome"] = "pass"
		}
		return all
	})},
	{Name: "removed check", Change: checks(func(t *Tamper, all []any) []any {
		i := t.IntN(len(all))
		return append(all[:i:i], all[i+1:]...)
	})},
	{Name: "other verdict", Change: func(t *Tamper) {
		verdict := "pass"
		if t.run().Verdict == verdict {
			verdict = "inconclusive"
		}
		t.run().Verdict = verdict
		t.results(func(r map[string]any) { r["verdict"] = verdict })
	}},
	{Name: "dropped exchange", Change: entries(func(t *Tamper, all []string) []string {
		i := t.IntN(len(all))
		return append(all[:i:i], all[i+1:]...)
	})},
	{Name: "altered exchange", Change: entries(func(t *Tamper, all []string) []string {
		i := t.IntN(len(all))
		all[i] = responseStatus.ReplaceAllString(all[i], `"response":{"status":299`)
		return all
	})},
	{Name: "evidence of another run", Change: func(t *Tamper) {
		other := bundle.InRun(1+t.Run%len(t.Manifest.Runs), bundle.EvidenceFile)
		if own := bundle.InRun(t.Run, bundle.EvidenceFile); own != other {
			t.Files[own] = t.Files[other]
		} else { // of one run: evidence of no run
			t.evidence(func([]string) []string { return nil })
		}
	}},
	{Name: "other seed", Change: func(t *Tamper) {
		t.run().Seed++
		t.results(inRun("seed", t.run().Seed))
	}},
	{Name: "other date", Change: func(t *Tamper) {
		t.run().Started = t.run().Started.AddDate(0, 0, -1)
		t.results(inRun("started", t.run().Started.Format(time.RFC3339Nano)))
	}},
	{Name: "other requirement set", Change: func(t *Tamper) {
		t.Manifest.Level = "shape"
		t.results(inRun("profile", "shape"))
	}},
	{Name: "other vendor", Change: func(t *Tamper) {
		t.Manifest.Implementation.Vendor += " and others"
		t.results(inTarget("vendor", t.Manifest.Implementation.Vendor))
	}},
	{Name: "other target profile", Change: func(t *Tamper) {
		t.Files[bundle.ProfileFile] = bytes.Replace(t.Files[bundle.ProfileFile], []byte("name: "), []byte("name: another "), 1)
	}},
	{Name: "exchanges of another day", Change: entries(func(_ *Tamper, all []string) []string {
		for i := range all {
			all[i] = startedDay.ReplaceAllString(all[i], `"startedDateTime":"2019-02-03T`)
		}
		return all
	})},
	{Name: "other User-Agent", Change: entries(func(_ *Tamper, all []string) []string {
		for i := range all {
			all[i] = userAgent.ReplaceAllString(all[i], `"name":"User-Agent","value":"another/9"`)
		}
		return all
	})},
	{Name: "ambiguous exchange", Change: entries(func(t *Tamper, all []string) []string {
		i := t.IntN(len(all))
		all[i] = strings.Replace(all[i], `"response":{`, `"response":{"Status":500,`, 1)
		return all
	})},
	{Name: "invented observations", Change: func(t *Tamper) {
		t.results(func(r map[string]any) {
			r["observations"] = []any{map[string]any{"open_point": "SILENT-MESSAGES", "operation": "leads.move", "value": "x", "count": 1}}
		})
	}},
	{Name: "other levels", Change: func(t *Tamper) { t.results(func(r map[string]any) { delete(r, "levels") }) }},
	{Name: "page of another version", Change: func(t *Tamper) {
		t.Manifest.Program.Version = "v0"
		for run := range t.Manifest.Runs {
			t.Run = run + 1
			t.results(func(r map[string]any) { r["tool"].(map[string]any)["version"] = "v0" })
		}
		t.Files[bundle.PageFile] = append([]byte("<!-- certified -->\n"), t.Files[bundle.PageFile]...)
	}},
	{Name: "other nonce", Change: func(t *Tamper) { t.Manifest.Nonce += "x" }},
	{Name: "other program", Change: func(t *Tamper) {
		t.Manifest.Program.Commit = strings.Repeat("0", 40)
		t.results(func(r map[string]any) { r["tool"].(map[string]any)["commit"] = t.Manifest.Program.Commit })
	}},
	{Name: "other catalogue", Change: func(t *Tamper) { t.Manifest.Catalogue = strings.Repeat("0", 64) }},
	{Name: "claimed certificate", Change: func(t *Tamper) {
		t.Manifest.Certificate = !t.Manifest.Certificate
	}},
	{Name: "later expiry", Change: func(t *Tamper) { t.Manifest.Expires = t.Manifest.Expires.AddDate(1, 0, 0) }},
	{Name: "expired", Change: func(t *Tamper) { t.Manifest.Expires = t.Manifest.Created.Add(time.Second) }},
	{Name: "missing file", Change: func(t *Tamper) { delete(t.Files, t.file()) }},
	{Name: "extra file", Change: func(t *Tamper) { t.Files[bundle.InRun(t.Run, "notes.txt")] = []byte("all is well\n") }},
	{Name: "other page", Change: func(t *Tamper) {
		name := bundle.InRun(t.Run, bundle.ReportFile)
		t.Files[name] = append([]byte("<!-- certified -->\n"), t.Files[name]...)
	}},
	{Name: "damaged file", Plain: true, Change: func(t *Tamper) {
		name := t.file()
		t.Files[name] = t.flip(t.Files[name])
	}},
	{Name: "wrong digest", Plain: true, Change: func(t *Tamper) {
		name := t.file()
		f := t.Manifest.Files[name]
		f.SHA256 = strings.Repeat("0", 64)
		t.Manifest.Files[name] = f
	}},
	{Name: "missing signature", Plain: true, Change: func(t *Tamper) { delete(t.Files, bundle.EnvelopeFile) }},
	{Name: "signature by a stranger", Plain: true, Change: func(t *Tamper) { t.key = strangersKey(t.Rand) }},
	{Name: "damaged archive", Plain: true, Change: func(t *Tamper) { t.archive = t.flip }},
}

var (
	startedDay = regexp.MustCompile(`"startedDateTime":"[0-9-]{10}T`)
	userAgent  = regexp.MustCompile(`"name":"User-Agent","value":"[^"]*"`)
)

var responseStatus = regexp.MustCompile(`"response":\{"status":\d+`)

func checks(change func(t *Tamper, all []any) []any) func(*Tamper) {
	return func(t *Tamper) {
		t.results(func(r map[string]any) { r["checks"] = change(t, r["checks"].([]any)) })
	}
}

func entries(change func(t *Tamper, all []string) []string) func(*Tamper) {
	return func(t *Tamper) { t.evidence(func(all []string) []string { return change(t, all) }) }
}

func inRun(member string, value any) func(map[string]any) {
	return func(r map[string]any) { r["run"].(map[string]any)[member] = value }
}

func inTarget(member string, value any) func(map[string]any) {
	return func(r map[string]any) { r["target"].(map[string]any)[member] = value }
}

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/disk"
	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/reports/publish"
	"outreach.example/conformance/suites/traffic"
)

const clientsFile = "clients.json"

// judgedFiles are what judge writes.
var judgedFiles = append(slices.Clone(verdictFiles), clientsFile)

type judgeOptions struct {
	session
	Listen string `flag:"listen" usage:"address to listen on: a proxy that judges what passes it, e.g. 127.0.0.1:8080"`
}

func newJudge() *cobra.Command {
	f := &judgeOptions{session: at("judge-results", publish.OfRun.Names()...)}
	return command(&cobra.Command{
		Use:   "judge [RECORDING]",
		Short: "Judge exchanges that other programs sent: a recording, or live as a proxy",
		Long: `judge reads the exchanges of a browser, a proxy or an end-to-end suite, and says
which requirements they break, which they confirm, and about which they say nothing.
RECORDING is an HTTP Archive (HAR), which may be compressed with gzip. judge sends no
request.

With --listen, judge is a reverse proxy in front of the server at --target. Ctrl-C ends
it, and then it reports.

Each exchange is judged by itself. Walks, rows in two views, filters, creations and
deletions are judged where the recording holds all of it. Other clients may have
changed the server meanwhile: what their changes explain is no failure. Scopes and
isolation need the keys of a target profile, and a recording that has the
Authorization headers. Browsers leave them out.

A second list, in clients.json, names what clients sent that the specification does not
allow. It does not affect the exit code: 0 if something was confirmed and nothing failed, 1 if a
requirement is broken, 3 if the recording confirms nothing.`,
		Example: `  outreach-conformance judge traffic.har
  outreach-conformance judge traffic.har.gz --target-profile server.yaml
  outreach-conformance judge --listen 127.0.0.1:8080 --target http://127.0.0.1:8025`,
		Args: cobra.MaximumNArgs(1),
	}, f, "Traffic: target-profile listen target\nOutput: output verbose quiet format", f.judgeTraffic,
		"{profile}", "keys and unnamed parameters are unknown", "{target}", "an address without /api/v2, for --listen")
}

func (f *judgeOptions) judgeTraffic(ctx context.Context, args []string) (err error) {
	if (f.Listen == "") != (len(args) == 1) || f.Listen != "" && f.Target == "" {
		return errors.New("judge: want a recording, or --listen and --target")
	}
	var p *profile.Profile
	if f.Source.Profile != "" {
		if p, err = profile.Open(f.Source.Profile); err != nil {
			return err
		}
	}
	if err := errors.Join(disk.Forget(f.Output, judgedFiles...), f.prepare(append(args, f.Source.Profile), judgedFiles...)); err != nil {
		return err
	}
	j, err := traffic.New(p)
	if err != nil {
		return cannotTell(err)
	}
	from := f.Listen
	if from != "" {
		err = traffic.Proxy(ctx, j, from, f.Target, f.say)
	} else {
		from = args[0]
		err = j.ReadFile(from)
	}
	if err != nil {
		return err
	}
	results := j.Results()
	results.Tool, results.Run.ID, results.Target.Kind = thisTool(), uuid.NewString(), target.KindURL
	results.Target.Name = cmp.Or(results.Target.Name, "traffic of "+filepath.Base(from))
	if results.Run.Started.IsZero() {
		results.Run.Started = time.Now().UTC().Truncate(time.Millisecond)
	}
	clients, err := json.MarshalIndent(j.Clients(), "", "  ")
	if err == nil {
		err = disk.Write(filepath.Join(f.Output, clientsFile), append(redact.Process.Content(clients), '\n'))
	}
	ended := f.report(results, nowhere, err, nil)
	if f.OnStdout() == publish.Console {
		f.print("\n%s", j.Clients())
		var left []string
		if n := j.Others; n > 0 {
			left = append(left, printable.Counted(n, "exchange")+" without an operation of the API or a whole response")
		}
		if n := j.Unjudged; n > 0 {
			left = append(left, printable.Counted(n, "refusal")+" beyond those that fit into memory")
		}
		if left != nil {
			f.print("\nnot judged: %s\n", strings.Join(left, ", "))
		}
	}
	return ended
}

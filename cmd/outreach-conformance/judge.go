package main

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/atomicfile"
	"outreach.example/conformance/internal/har"
	"outreach.example/conformance/internal/inputfile"
	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/outputdir"
	"outreach.example/conformance/suites/traffic"
)

const (
	judgeCommand = "judge"
	judgeOutput  = "judge-results"
	clientsFile  = "clients.json"
)

type judgeFlags struct {
	runFlags
	listen string
}

func newJudge() *cobra.Command {
	var f judgeFlags
	cmd := &cobra.Command{
		Use:   judgeCommand + " [RECORDING]",
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
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.formats.in(cmd.OutOrStdout(), func() error { return f.judge(cmd.Context(), args, cmd.OutOrStdout(), cmd.ErrOrStderr()) })
		},
	}
	flags := cmd.Flags()
	group(flags, "Traffic", func() {
		flags.StringVar(&f.targetProfile, "target-profile", "", "description of the target: embedded, mock, a YAML file, or - for the standard input (default: keys and unnamed parameters are unknown)")
		flags.StringVar(&f.listen, "listen", "", "address to listen on: a proxy that judges what passes it, e.g. 127.0.0.1:8080")
		flags.StringVarP(&f.target, "target", "t", "", "the server under test: an address without /api/v2, for --listen")
	})
	group(flags, "Output", func() {
		registerOutput(flags, &f.output, judgeOutput)
		registerVerbose(flags, &f.verbose, "every violation and observation")
		flags.BoolVarP(&f.quiet, "quiet", "q", false, "show only failures and the last line, and no progress")
		f.formats.register(flags, resultFormats)
	})
	return cmd
}

func (f judgeFlags) judge(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if (f.listen == "") != (len(args) == 1) || f.listen != "" && f.target == "" {
		return exitError{exitUsage, errors.New("judge: want a recording, or --listen and --target")}
	}
	var p *profile.Profile
	var err error
	if f.targetProfile != "" {
		p, err = profile.Open(f.targetProfile)
	}
	if err == nil {
		err = errors.Join(outputdir.Prepare(f.output, resultsFile, junitFile, reportFile, summaryFile, clientsFile), f.formats.prepare(args...))
	}
	if err != nil {
		return exitError{exitUsage, err}
	}
	j, err := traffic.New(p)
	if err != nil {
		return exitError{exitCannotTell, err}
	}
	from := f.listen
	if from != "" {
		err = f.proxy(ctx, j, stderr)
	} else {
		from = args[0]
		err = readRecording(from, j.Add)
	}
	if err != nil {
		return exitError{exitUsage, err}
	}
	results := j.Results()
	results.Tool, results.Run.ID, results.Target.Kind = thisTool(), uuid.NewString(), target.KindURL
	results.Target.Name = cmp.Or(results.Target.Name, "traffic of "+filepath.Base(from))
	if results.Run.Started.IsZero() {
		results.Run.Started = time.Now().UTC().Truncate(time.Millisecond)
	}
	clients, err := json.MarshalIndent(j.Clients(), "", "  ")
	if err == nil {
		err = atomicfile.Write(filepath.Join(f.output, clientsFile), append(redact.Process.Content(clients), '\n'))
	}
	failed := f.report(results, stdout, func(reports.Check) string { return "" }, err)
	if f.formats.onStdout() == consoleFormat {
		_, _ = fmt.Fprintf(stdout, "\n%s", clientSummary(j.Clients()))
		if n := j.Others; n > 0 {
			_, _ = fmt.Fprintf(stdout, "\nnot judged: %s without an operation of the API or a whole response\n", printable.Counted(n, "exchange"))
		}
	}
	return failed
}

// readRecording calls add with each entry of an HTTP Archive, compressed or not.
func readRecording(path string, add func(har.Entry) error) error {
	file, err := inputfile.Open(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer func() { _ = file.Close() }()
	buffered := bufio.NewReaderSize(file, 1<<16)
	var from io.Reader = buffered
	if magic, _ := buffered.Peek(2); string(magic) == "\x1f\x8b" {
		from, err = gzip.NewReader(buffered)
	}
	if err == nil {
		err = har.Read(inputfile.Text(from), add)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"outreach.example/conformance/internal/suggest"
	"outreach.example/conformance/reports/view"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
	"outreach.example/conformance/suites/selftest/faults"
)

func newRequirements() *cobra.Command {
	var f runFlags
	var openPoints bool
	cmd := &cobra.Command{
		Use:   "requirements",
		Short: "List the catalogue and its coverage",
		Long: `requirements lists every requirement with its level, its number of operations and
on how many of these a spec checks it. With --open-points it lists what the
specification leaves open, which is never judged. With --target-profile it says which
input of the profile a check lacks. It sends nothing.

Each entry begins with its id at the start of a line.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if openPoints {
				return view.OpenPoints(cmd.OutOrStdout())
			}
			selection, lacks := f.selection(), map[spec.Pair]string(nil)
			if f.targetProfile != "" {
				p, err := f.source().OpenProfile()
				if err != nil {
					return exitError{exitUsage, err}
				}
				selection = selection.For(p)
				if lacks, err = selection.Lacks(p); err != nil {
					return exitError{selectionCode(err), err}
				}
			}
			selected, err := selection.Pairs()
			if err != nil {
				return exitError{selectionCode(err), err}
			}
			return view.Requirements(cmd.OutOrStdout(), selected, suites.Tree.Judges(), len(suites.Tree.Specs()), lacks)
		},
	}
	flags := cmd.Flags()
	group(flags, "Selection", func() {
		f.registerSelection(flags, nil)
		flags.StringVar(&f.targetProfile, "target-profile", "", targetProfileUsage)
		flags.BoolVar(&openPoints, "open-points", false, "list what the specification leaves open instead")
	})
	return cmd
}

func newExplain() *cobra.Command {
	var verbose bool
	cmd := &cobra.Command{
		Use:   "explain ID",
		Short: "Explain a requirement or an open point, and how it is checked",
		Long: `explain shows a requirement, the sentences of the specification from which it
follows, the files of its checks and the defects that prove them. It also explains
the open points, which are never judged.`,
		Example: "  outreach-conformance explain PAGE-WALK-ONCE",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("explain takes one id (`outreach-conformance requirements [--open-points]` lists them)")
			}
			id := strings.ToUpper(args[0])
			if r, ok := spec.FindRequirement(id); ok {
				return view.Requirement(cmd.OutOrStdout(), view.Explanation{Requirement: r, Verbose: verbose,
					Locations: suites.Tree.Locations(id), Specs: suites.Tree.Judges(), Proofs: proofsOf(r)})
			}
			if s, ok := spec.FindOpenPoint(id); ok {
				return view.OpenPoint(cmd.OutOrStdout(), s)
			}
			return fmt.Errorf("unknown id %q%s (`outreach-conformance requirements` lists all)", id, suggest.Several(id, ids()))
		},
	}
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "show more: every quote, spec and defect")
	return cmd
}

// ids returns the ids that explain knows.
func ids() []string {
	var all []string
	for _, r := range spec.Requirements() {
		all = append(all, r.ID)
	}
	for _, s := range spec.OpenPoints() {
		all = append(all, s.ID)
	}
	return all
}

// proofsOf describes the defects that break the requirement, by operation.
func proofsOf(r spec.Requirement) map[string][]string {
	of := map[string][]string{}
	for _, d := range faults.Defects() {
		if d.Breaks.Requirement == r.ID {
			of[d.Breaks.Operation] = append(of[d.Breaks.Operation], "the server "+d.Doc)
		}
	}
	return of
}

func newOpenAPI() *cobra.Command {
	var version string
	var format []string
	cmd := &cobra.Command{
		Use:   "openapi",
		Short: "Print the OpenAPI document",
		Long: `openapi prints the OpenAPI document of the API, in version 3.0.3 or 3.1.0. Both say
the same. The document is the one source of the shapes that run and load check.
Its examples work on the server that serve starts.`,
		Example: `  outreach-conformance openapi > openapi.yaml
  outreach-conformance openapi --version 3.1 --format json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := openAPI(version, strings.Join(format, ","))
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(text)
			return err
		},
	}
	cmd.Flags().StringVar(&version, "version", "3.0", "version of OpenAPI: 3.0 or 3.1")
	cmd.Flags().StringSliceVar(&format, "format", []string{"yaml"}, "output format: yaml or json")
	return cmd
}

func openAPI(version, format string) ([]byte, error) {
	document := schemas.OpenAPI()
	switch version {
	case "3.0":
	case "3.1":
		var err error
		if document, err = schemas.OpenAPI31(); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("--version %s: unknown version of OpenAPI (want 3.0 or 3.1)", version)
	}
	switch format {
	case "yaml":
		return document, nil
	case "json":
		return schemas.ToJSON(document)
	}
	return nil, fmt.Errorf("--format %s: unknown format (want yaml or json)", format)
}

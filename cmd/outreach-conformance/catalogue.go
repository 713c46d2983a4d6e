package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"outreach.example/conformance/internal/pattern"
	"outreach.example/conformance/reports/view"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
	"outreach.example/conformance/suites/runner"
	"outreach.example/conformance/suites/selftest/faults"
)

func newRequirements() *cobra.Command {
	f := &struct {
		session
		runner.Selection
		Levels     []string `flag:"profile,p" usage:"sets of requirements: {profiles} (the target is described by --target-profile)"`
		OpenPoints bool     `flag:"open-points" usage:"list what the specification leaves open instead"`
	}{}
	return command(&cobra.Command{
		Use:   "requirements",
		Short: "List the catalogue and its coverage",
		Long: `requirements lists every requirement with its level, its number of operations and
on how many of these a spec checks it. With --open-points it lists what the
specification leaves open, which is never judged. With --target-profile it says which
input of the profile a check lacks. It sends nothing.

Each entry begins with its id at the start of a line.`,
	}, f, "Selection: profile operation requirement group target-profile open-points", func(context.Context, []string) error {
		if f.OpenPoints {
			return view.OpenPoints(f.out)
		}
		selection, lacks := f.Selection, map[spec.Pair]string(nil)
		selection.Profiles = profilesOf(f.Levels)
		if f.Source.Profile != "" {
			p, err := f.OpenProfile()
			if err != nil {
				return err
			}
			selection = selection.For(p)
			if lacks, err = selection.Lacks(p); err != nil {
				return unjudgedError(err)
			}
		}
		chosen, err := selection.Pairs()
		if err != nil {
			return unjudgedError(err)
		}
		return view.Requirements(f.out, chosen, suites.Tree.Judges(), len(suites.Tree.Specs()), lacks)
	})
}

func newExplain() *cobra.Command {
	f := &struct{ session }{}
	return command(&cobra.Command{
		Use:   "explain ID",
		Short: "Explain a requirement or an open point, and how it is checked",
		Long: `explain shows a requirement, the sentences of the specification from which it
follows, the files of its checks and the defects that prove them. It also explains
the open points, which are never judged.`,
		Example: "  outreach-conformance explain PAGE-WALK-ONCE",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("explain takes one id (`outreach-conformance requirements [--open-points]` lists them)")
			}
			return nil
		},
	}, f, ": verbose", func(_ context.Context, args []string) error {
		id := strings.ToUpper(args[0])
		if r, ok := spec.FindRequirement(id); ok {
			return view.Requirement(f.out, view.Explanation{Requirement: r, Verbose: f.Verbose,
				Locations: suites.Tree.Locations(id), Specs: suites.Tree.Judges(), Proofs: proofsOf(r)})
		}
		if s, ok := spec.FindOpenPoint(id); ok {
			return view.OpenPoint(f.out, s)
		}
		return fmt.Errorf("unknown id %q%s (`outreach-conformance requirements` lists all)", id, pattern.Several(id, ids()))
	}, "{verbose}", "every quote, spec and defect")
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
	f := &struct {
		session
		Version string   `flag:"version" usage:"version of OpenAPI: 3.0 or 3.1"`
		Form    []string `flag:"format" usage:"output format: yaml or json"`
	}{Version: "3.0", Form: []string{"yaml"}}
	return command(&cobra.Command{
		Use:   "openapi",
		Short: "Print the OpenAPI document",
		Long: `openapi prints the OpenAPI document of the API, in version 3.0.3 or 3.1.0. Both say
the same. The document is the one source of the shapes that run and load check.
Its examples work on the server that serve starts.`,
		Example: `  outreach-conformance openapi > openapi.yaml
  outreach-conformance openapi --version 3.1 --format json`,
	}, f, ": version format", func(context.Context, []string) error {
		text, err := openAPI(f.Version, strings.Join(f.Form, ","))
		if err == nil {
			_, err = f.out.Write(text)
		}
		return err
	})
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

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"outreach.example/conformance/schemas"
)

func newOpenAPI() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "openapi",
		Short: "Print the OpenAPI document",
		Long: `openapi prints the OpenAPI 3.0.3 document of the API. The document is the one
source of the shapes that run and load check.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := openAPI(format)
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(text)
			return err
		},
	}
	cmd.Flags().StringVar(&format, "format", "yaml", "output format: yaml or json")
	return cmd
}

func openAPI(format string) ([]byte, error) {
	switch format {
	case "yaml":
		return schemas.OpenAPI(), nil
	case "json":
		return schemas.OpenAPIJSON()
	}
	return nil, fmt.Errorf("--format %s: unknown format (want yaml or json)", format)
}

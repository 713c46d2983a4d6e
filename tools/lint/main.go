// Command lint runs the analyzers of staticcheck and those of go vet over Go packages. They share
// one pass: each by itself would read all dependencies once more.
//
//	lint ./...
package main

import (
	"os"

	"golang.org/x/tools/go/analysis/suite/vet"
	"honnef.co/go/tools/lintcmd"
	"honnef.co/go/tools/simple"
	"honnef.co/go/tools/staticcheck"
	"honnef.co/go/tools/stylecheck"
	"honnef.co/go/tools/unused"
)

func main() {
	lint := lintcmd.NewCommand("lint")
	lint.ParseFlags(os.Args[1:])
	lint.AddAnalyzers(simple.Analyzers...)
	lint.AddAnalyzers(staticcheck.Analyzers...)
	lint.AddAnalyzers(stylecheck.Analyzers...)
	lint.AddAnalyzers(unused.Analyzer)
	lint.AddBareAnalyzers(vet.Suite...)
	lint.Run()
}

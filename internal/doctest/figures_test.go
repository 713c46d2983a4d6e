package doctest

import (
	"fmt"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
)

// figures counts the catalogue.
func figures(*testing.T) string {
	return fmt.Sprintf("Judged are **%d pairs of requirement × operation**: %d requirements on %d operations, by %d specs.\n"+
		"What the specification leaves open, %d silences, is never judged.\n",
		len(spec.Pairs()), len(spec.Requirements()), len(spec.Operations()), len(suites.All()), len(spec.Silences()))
}

// holds says what the requirements of a profile are about.
var holds = map[spec.Profile]string{
	spec.ProfileShape:     "status 200, content types, and the type, value and presence of every documented field; works on a stateless mock",
	spec.ProfileRead:      "pages, sort order, filters, 404",
	spec.ProfileWrite:     "what is created, moved or deleted is what is read afterwards; invalid bodies are not accepted",
	spec.ProfileScopes:    "401, and which keys may make which request",
	spec.ProfileIsolation: "one workspace never sees or changes what is another's",
	spec.ProfileAdmin:     "moving accounts between workspaces",
	spec.ProfileBilling:   "402",
	spec.ProfileRateLimit: "429, and that service resumes",
	spec.ProfileFull:      "all of them; the default",
}

// profiles is a table of the profiles.
func profiles(t *testing.T) string {
	requirements, pairs := map[spec.Profile]int{}, map[spec.Profile]int{}
	for _, r := range spec.Requirements() {
		for _, p := range []spec.Profile{r.Profile, spec.ProfileFull} {
			requirements[p]++
			pairs[p] += len(r.Operations)
		}
	}
	var table strings.Builder
	table.WriteString("| profile | requirements | pairs | about |\n|---|---:|---:|---|\n")
	for _, p := range spec.Profiles() {
		if holds[p] == "" {
			t.Fatalf("say in holds what the profile %s is about", p)
		}
		fmt.Fprintf(&table, "| `%s` | %d | %d | %s |\n", p, requirements[p], pairs[p], holds[p])
	}
	return table.String()
}

// layout is a table of the packages: the first sentence of each package comment.
func layout(t *testing.T) string {
	root := os.DirFS("../..")
	var table strings.Builder
	table.WriteString("| directory | |\n|---|---|\n")
	err := fs.WalkDir(root, ".", func(dir string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() || dir == "." {
			return err
		}
		name := entry.Name()
		_, nested := fs.Stat(root, path.Join(dir, "go.mod"))
		if name[0] == '.' || nested == nil || slices.Contains([]string{"internal", "testdata", "generate"}, name) {
			return fs.SkipDir
		}
		if sentence := synopsis(t, root, dir); sentence != "" {
			fmt.Fprintf(&table, "| [`%s`](%s) | %s |\n", dir, dir, sentence)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return table.String()
}

// synopsis is the first sentence of a package comment without the package's
// name; empty for a directory that holds no package.
func synopsis(t *testing.T, root fs.FS, dir string) string {
	files, err := fs.Glob(root, path.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "_test.go") })
	for _, name := range files {
		source, err := fs.ReadFile(root, name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if file.Doc == nil {
			continue
		}
		sentence := new(doc.Package).Synopsis(file.Doc.Text())
		_, said, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(sentence, "Package "), "Command "), " ")
		return strings.TrimSuffix(strings.TrimPrefix(said, "is "), ".")
	}
	if len(files) > 0 {
		t.Errorf("%s has no package comment: say what the package is for", dir)
	}
	return ""
}

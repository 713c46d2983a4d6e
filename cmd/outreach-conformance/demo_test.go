package main

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var demoDirectory = flag.String("demo", "", "the directory in which the demo leaves its files; empty: it does not run")

// TestDemo plays a gate, a release and a vendor on the reference server with a defect,
// as testdata/demo says, and leaves what they get for inspection.
func TestDemo(t *testing.T) {
	if *demoDirectory == "" {
		t.Skip("only with -demo DIRECTORY")
	}
	dir, err := filepath.Abs(*demoDirectory)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Run("users", func(t *testing.T) {
		testscript.Run(t, testscript.Params{
			Dir:                 "testdata/demo",
			RequireExplicitExec: true,
			RequireUniqueNames:  true,
			Setup: func(env *testscript.Env) error {
				env.Setenv("DEMO", dir)
				return unfold(env)
			},
			Cmds: map[string]func(*testscript.TestScript, bool, []string){
				"exits": exits, "start": start, "interrupt": interrupt, "results": results, "profile": writeProfile, "defective": defective,
			},
		})
	})
	if t.Failed() {
		return
	}
	err = filepath.WalkDir(dir, func(path string, file fs.DirEntry, err error) error {
		if err == nil && !file.IsDir() {
			t.Log(path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

//go:build unix

package main

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
)

// No command waits for a pipe that nobody writes to, whichever flag, variable, profile or
// directory names it.
func TestPipesAreRefused(t *testing.T) {
	base := servingBehind(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) { next.ServeHTTP(w, r) })
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{
		"token.yaml": "{name: main, token_file: PIPE, workspace: main, scopes: ['all:all'], state: active}",
		"ca.yaml":    "{name: main, token: k, workspace: main, scopes: ['all:all'], state: active}\ntls: {ca_file: PIPE}",
	} {
		text = "name: x\nworkspaces: {main: {id: 0193257f-7f04-7700-9821-dec01cb62796}}\nkeys:\n- " + text + "\n"
		NewWithT(t).Expect(os.WriteFile(name, []byte(text), 0o600)).To(Succeed())
	}
	for pipe, commands := range map[string][]string{
		"PIPE": {
			"run --target-profile PIPE", "run --baseline PIPE", "run --only-failed PIPE", "run --expected-failures PIPE", "run --write-expected PIPE", "run --format json=PIPE",
			"run --target BASE --target-profile token.yaml", "run --target https://127.0.0.1:1 --target-profile ca.yaml",
			"load --target-profile PIPE", "load --scenario-file PIPE", "load --baseline PIPE", "load --threshold worse<5%\x00vs\x00PIPE", "load --format junit=PIPE", "load merge PIPE",
			"explore --replay PIPE", "target check --target-profile PIPE", "target init --target https://127.0.0.1:1 --ca-file PIPE", "target init --target BASE --force --file PIPE",
			"report html PIPE", "report merge PIPE PIPE", "report diff PIPE PIPE", "cleanup --target-profile PIPE",
		},
		"results.json":                      {"run -o .", "report html .", "report merge . .", "report diff . .", "run --baseline ."},
		"part.json":                         {"load merge ."},
		"load.json":                         {"load -o ."},
		"results.bin":                       {"load --raw -o ."},
		"selftest.json":                     {"selftest -o ."},
		"cases.json":                        {"explore -o ."},
		"journal-1.jsonl":                   {"cleanup --target BASE -o ."},
		"GITHUB_STEP_SUMMARY":               {"run --format github", "load --format github"},
		filepath.Join("c", "container.log"): {"run --target image:x -o c"},
	} {
		for _, line := range commands {
			t.Run(strings.ReplaceAll(line, "\x00", " ")+" "+pipe, func(t *testing.T) {
				g := NewWithT(t)
				path := filepath.Join(dir, pipe)
				g.Expect(os.MkdirAll(filepath.Dir(path), 0o700)).To(Succeed())
				g.Expect(syscall.Mkfifo(path, 0o600)).To(Succeed())
				defer os.Remove(path)
				if strings.Contains(line, "github") {
					t.Setenv(summaryVariable, path)
				}
				t.Setenv("OUTREACH_KEY_MAIN", "k")
				args := strings.Fields(strings.NewReplacer("PIPE", path, "BASE", base).Replace(line))
				for i := range args {
					args[i] = strings.ReplaceAll(args[i], "\x00", " ")
				}
				var stdout, stderr bytes.Buffer
				g.Expect(execute(args, &stdout, &stderr)).To(BeElementOf(exitUsage, exitCannotTell), "%s%s", &stdout, &stderr)
				g.Expect(stderr.String()).To(ContainSubstring(" is a pipe, not a regular file"))
			})
		}
	}
}

// A command that waits for something else than its context ends at the second Ctrl-C.
func TestASecondInterruptAlwaysEndsTheProcess(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	read, write, err := os.Pipe()
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = write.Close() })
	c := command(t, nil, runCommand, "--target-profile", "-")
	c.Stdin = read
	p := begunWithout(t, c)
	_, err = write.Write(bytes.Repeat([]byte("\n"), 128<<10)) // more than a pipe holds: it returns when the process reads
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func() <-chan struct{} {
		_ = c.Process.Signal(syscall.SIGINT)
		return p.done
	}, patience, "100ms").Should(BeClosed())
	g.Expect(c.ProcessState.ExitCode()).To(Equal(exitInterrupted))
}

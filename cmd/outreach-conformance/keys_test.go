package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/loadtest"
	"outreach.example/conformance/reports/jsonfile"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/publish"
)

// spelled returns a key as targets may repeat it.
func spelled(key string) []string {
	inHex := hex.EncodeToString([]byte(key))
	return []string{
		key, strings.ToUpper(key), strings.ToLower(key), inHex, percent(inHex),
		base64.StdEncoding.EncodeToString([]byte("u:" + key)), base64.URLEncoding.EncodeToString([]byte(key)),
	}
}

// percent writes an escape for each byte in hex.
func percent(inHex string) string { return regexp.MustCompile("..").ReplaceAllString(inHex, "%$0") }

// repeating is a server that repeats the key of each request in all its responses.
func repeating(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		honest := httptest.NewRecorder()
		next.ServeHTTP(honest, r)
		says := spelled(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		var body any
		if r.Header.Get("Authorization") == "" || json.Unmarshal(honest.Body.Bytes(), &body) != nil {
			says = []string{""}
		}
		object, _ := body.(map[string]any)
		if message, ok := object["message"].(string); ok {
			object["message"] = message + " " + strings.Join(says, " ")
		}
		items, _ := object["items"].([]any)
		for i, item := range items {
			row := item.(map[string]any)
			row["extra "+says[i%len(says)]] = true
			for name, value := range row {
				if text, ok := value.(string); ok && (strings.HasSuffix(r.URL.Path, "/lead-labels") || name == "name") {
					row[name] = text[:len(text)/2] + " " + says[i%len(says)]
				}
			}
		}
		if body != nil {
			honest.Body.Reset()
			_ = json.NewEncoder(honest.Body).Encode(body)
		}
		for name, values := range honest.Header() {
			if name != "Content-Length" {
				w.Header()[name] = values
			}
		}
		w.Header().Set("Ratelimit-Policy", says[0])
		w.WriteHeader(honest.Code)
		_, _ = w.Write(honest.Body.Bytes())
	})
}

// everyFile writes each format of results to a file.
const everyFile = ",json=f/r.json,junit=f/j.xml,html=f/p.html,markdown=f/s.md,gitlab=f/g.json,sarif=f/s.sarif,console=f/c.txt,github=f/a.txt"

// Nothing that a command prints or writes shows a key, whatever the target says. The
// files stay what they are.
func TestNoKeyLeavesTheProcess_long(t *testing.T) {
	server, err := target.Embedded(t.Context(), dataset.Options{Seed: 1, Rows: 60}, refserver.Options{Middleware: []func(http.Handler) http.Handler{repeating}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close(t.Context()) })
	main, _ := server.Profile.FullKey(dataset.Main)
	t.Setenv("OUTREACH_KEY_MAIN", main.Token)
	lists := []string{"--operation", "lead-labels.list,lead-lists.list"}
	for name, args := range map[string][]string{
		"run":    append([]string{runCommand, "--target", server.BaseURL, "--verbose", "--format", publish.GitHub + everyFile, "--seed", "1", "--profile", "shape,read"}, lists...),
		"load":   append([]string{loadCommand, "--target", server.BaseURL, "--verbose", "--format", publish.GitHub + everyFile, "--raw=vegeta,jsonl", "--scenario", "mixed", "--rate", "40", "--duration", "500ms", "--warmup", "0s"}, lists...),
		"init":   {"target", "init", "--target", server.BaseURL},
		"check":  {"target", "check", "--target", server.BaseURL, "--verbose"},
		"errors": {runCommand, "--target", "http://127.0.0.1:1/" + main.Token, "--only-failed", main.Token},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			t.Chdir(t.TempDir())
			t.Setenv("GITHUB_STEP_SUMMARY", "summary-of-the-job.md")
			if name != "init" {
				args = append(args, "-o", "out")
			}
			var stdout, stderr bytes.Buffer
			execute(t.Context(), args, &stdout, &stderr)
			shown := map[string][]byte{"standard output": stdout.Bytes(), "standard error": stderr.Bytes()}
			g.Expect(filepath.WalkDir(".", func(path string, file fs.DirEntry, err error) error {
				if err == nil && !file.IsDir() {
					shown[path], err = os.ReadFile(path)
				}
				return err
			})).To(Succeed())
			keys := redact.NewSet()
			for _, k := range server.Profile.Keys {
				keys.Learn(k.Token, "")
			}
			for path, content := range shown {
				if left := keys.Content(content); !bytes.Equal(left, content) {
					t.Errorf("%s shows a key: %s", path, left)
				}
				for _, one := range spelled(main.Token) {
					if bytes.Contains(content, []byte(one)) {
						t.Errorf("%s shows %q", path, one)
					}
				}
				switch filepath.Ext(path) {
				case ".xml":
					g.Expect(xml.Unmarshal(content, new(struct{}))).To(Succeed(), path)
				case ".yaml":
					written, err := profile.Parse(path, content)
					g.Expect(err).NotTo(HaveOccurred())
					g.Expect(written.Keys[0].TokenEnv).To(Equal("OUTREACH_KEY_MAIN"))
				}
			}
			switch name {
			case "run":
				results, err := jsonfile.Run.Read(filepath.Join("out", resultsFile))
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(results.Target.BaseURL).To(Equal(server.BaseURL))
				for _, name := range []string{"r.json", "j.xml", "s.md", "g.json", "s.sarif", "c.txt"} {
					g.Expect(string(shown[filepath.Join("f", name)])).To(ContainSubstring("[redacted]"), "%s shows what was redacted", name)
				}
				g.Expect(string(shown[filepath.Join("out", resultsFile)])).To(And(ContainSubstring("[redacted]"), ContainSubstring("$OUTREACH_KEY_MAIN")))
			case "load":
				_, err := load.Read(filepath.Join("out", loadFile))
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(shown).To(HaveKey(filepath.Join("out", loadtest.RawFile)))
			}
		})
	}
}

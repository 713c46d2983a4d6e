package page_test

import (
	"bytes"
	"context"
	"image"
	_ "image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"outreach.example/conformance/reports/load/page"
)

// requireBrowser is a variable. If it is set, tests fail without a browser. CI sets
// it.
const requireBrowser = "OUTREACH_REQUIRE_BROWSER"

// browser returns the path of a Chromium. Without one it skips the test.
func browser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv(requireBrowser) != "" {
		t.Fatal("no Chromium in the PATH, and " + requireBrowser + " is set: install the Debian package chromium-headless-shell")
	}
	t.Skip("no Chromium in the PATH: install the Debian package chromium-headless-shell")
	return ""
}

// A browser shows the page with no message on its console and no request, and the page
// is not blank.
func TestThePageInABrowser(t *testing.T) {
	chromium := browser(t)
	for name, results := range samples() {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file, shot := filepath.Join(dir, "load.html"), filepath.Join(dir, "load.png")
			if err := page.Write(file, results); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
				"--user-data-dir="+filepath.Join(dir, "profile"), "--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr", "--log-level=0",
				"--window-size=900,1600", "--screenshot="+shot, "file://"+file)
			var said bytes.Buffer
			cmd.Stdout, cmd.Stderr = &said, &said
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v\n%s", err, said.String())
			}
			for line := range strings.Lines(said.String()) {
				if strings.Contains(line, "CONSOLE") || strings.Contains(line, "ERR_") {
					t.Errorf("the browser complains: %s", strings.TrimSpace(line))
				}
			}
			if colours := coloursOf(t, shot); colours < 8 {
				t.Errorf("the page shows %d colours: it is blank", colours)
			}
		})
	}
}

// coloursOf counts the colours of a sample of pixels.
func coloursOf(t *testing.T, path string) int {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	picture, _, err := image.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[[3]uint32]bool{}
	bounds := picture.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y += 2 {
		for x := bounds.Min.X; x < bounds.Max.X; x += 2 {
			r, g, b, _ := picture.At(x, y).RGBA()
			seen[[3]uint32{r, g, b}] = true
		}
	}
	return len(seen)
}

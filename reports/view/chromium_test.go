package view_test

// Pages are opened in a headless Chromium. This file is the only home of chromedp.

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	browserlog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// requireBrowser is a variable. If it is set, tests fail without a browser. CI sets it.
const requireBrowser = "OUTREACH_REQUIRE_BROWSER"

// pageTimeout bounds the work with one page. Nothing waits for it unless the browser hangs.
const pageTimeout = 5 * time.Minute

// chromium is a running Chromium.
type chromium struct {
	t   testing.TB
	ctx context.Context
}

// startBrowser starts a Chromium, which ends with the test. Without one it skips the test.
func startBrowser(t testing.TB) *chromium {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(findBrowser(t)), chromedp.UserDataDir(filepath.Join(t.TempDir(), "browser")),
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND"))
	allocated, end := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocated)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // waits until the process has ended, so that its directory can be removed
		cancel()
		end()
	})
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start Chromium: %v", err)
	}
	return &chromium{t, ctx}
}

// findBrowser returns the path of a Chromium.
func findBrowser(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	const hint = "no Chromium in the PATH: install the Debian package chromium-headless-shell"
	if os.Getenv(requireBrowser) != "" {
		t.Fatal(hint)
	}
	t.Skip(hint)
	return ""
}

// screenSize is how a page is shown.
type screenSize struct {
	Width, Height int64
	Dark          bool
}

// openPage is an open page.
type openPage struct {
	t   testing.TB
	ctx context.Context

	mu       sync.Mutex
	requests []string
	said     []string
}

// Open opens the file. The page closes with the test.
func (b *chromium) Open(file string, s screenSize) *openPage {
	b.t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	b.t.Cleanup(cancel)
	p := &openPage{t: b.t, ctx: ctx}
	if err := errors.Join(chromedp.Do(ctx), chromedp.Listen(ctx, p.listen)); err != nil {
		b.t.Fatalf("open a page: %v", err)
	}
	theme := "light"
	if s.Dark {
		theme = "dark"
	}
	command(p, network.Enable, network.EnableParams{})
	command(p, browserlog.Enable, cdp.Empty{})
	command(p, runtime.Enable, cdp.Empty{})
	command(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: s.Width, Height: s.Height, DeviceScaleFactor: 1})
	command(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}})
	act(p, chromedp.Navigate("file://"+file))
	return p
}

func (p *openPage) listen(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, e.Request.URL)
	case *browserlog.EventEntryAdded:
		p.said = append(p.said, e.Entry.Text)
	case *runtime.EventExceptionThrown:
		p.said = append(p.said, e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		p.said = append(p.said, fmt.Sprint("console ", e.Type))
	case *page.EventJavascriptDialogOpening:
		p.said = append(p.said, "dialog "+e.Message)
	}
}

// command runs a command of the protocol.
func command[P, R any](p *openPage, method cdp.Command[P, R], params P) {
	p.t.Helper()
	if _, err := chromedp.Call(p.ctx, method, params); err != nil {
		p.t.Fatalf("%s: %v", method.Method, err)
	}
}

// act runs the action.
func act[T any](p *openPage, action chromedp.Action[T]) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, pageTimeout)
	defer cancel()
	value, err := chromedp.Run(ctx, action)
	if err != nil {
		p.t.Fatal(err)
	}
	return value
}

// Press presses a key on the element that has the focus, so many times. The package kb
// names keys.
func (p *openPage) Press(key string, times int) {
	p.t.Helper()
	for range times {
		act(p, chromedp.KeyEvent(key))
	}
}

// valueOf returns the value of a JavaScript expression.
func valueOf[T any](p *openPage, expression string) T {
	p.t.Helper()
	return act(p, chromedp.Evaluate[T](expression))
}

// Requests returns the addresses that the page requested; the first is its own.
func (p *openPage) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.requests...)
}

// Said returns the messages on the console, the exceptions and the dialogs.
func (p *openPage) Said() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.said...)
}

// Screenshot returns a PNG of the screen.
func (p *openPage) Screenshot() []byte {
	p.t.Helper()
	return act(p, chromedp.CaptureScreenshot())
}

// contrasts is a JavaScript expression: the texts whose contrast with what is behind them
// is below 4.5 (WCAG 2.2, success criterion 1.4.3).
//
//go:embed testdata/contrast.js
var contrasts string

// lowContrast returns the texts of the page with a contrast below 4.5, and how many
// different pairs of colours were compared.
func lowContrast(p *openPage) (low []string, compared int) {
	p.t.Helper()
	found := valueOf[struct {
		Low      []string `json:"low"`
		Compared int      `json:"compared"`
	}](p, contrasts)
	return found.Low, found.Compared
}

// overflow returns by how many pixels the page is wider than the screen, and what sticks
// out of it.
func overflow(p *openPage) (pixels int, what []string) {
	p.t.Helper()
	pixels = valueOf[int](p, `document.documentElement.scrollWidth - document.documentElement.clientWidth`)
	if pixels > 0 {
		what = valueOf[[]string](p, `[...document.querySelectorAll("body *")]
			.filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".table"))
			.slice(0, 5).map(e => e.tagName + "." + e.className + " " + e.textContent.slice(0, 40))`)
	}
	return pixels, what
}

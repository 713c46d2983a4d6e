// Package browser opens pages in a headless Chromium, for tests of the HTML reports. It
// is the only home of chromedp. Only tests import it.
package browser

import (
	"context"
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
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// required is a variable. If it is set, tests fail without a browser. CI sets it.
const required = "OUTREACH_REQUIRE_BROWSER"

// timeout bounds the work with one page. Nothing waits for it unless the browser hangs.
const timeout = 5 * time.Minute

// Browser is a running Chromium.
type Browser struct {
	t   testing.TB
	ctx context.Context
}

// Start starts a Chromium, which ends with the test. Without one it skips the test.
func Start(t testing.TB) *Browser {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(find(t)), chromedp.UserDataDir(filepath.Join(t.TempDir(), "browser")),
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
	return &Browser{t, ctx}
}

// find returns the path of a Chromium.
func find(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	const hint = "no Chromium in the PATH: install the Debian package chromium-headless-shell"
	if os.Getenv(required) != "" {
		t.Fatal(hint)
	}
	t.Skip(hint)
	return ""
}

// Screen is how a page is shown.
type Screen struct {
	Width, Height int64
	Dark          bool
}

// Page is an open page.
type Page struct {
	t   testing.TB
	ctx context.Context

	mu       sync.Mutex
	requests []string
	said     []string
}

// Open opens the file. The page closes with the test.
func (b *Browser) Open(file string, s Screen) *Page {
	b.t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	b.t.Cleanup(cancel)
	p := &Page{t: b.t, ctx: ctx}
	if err := errors.Join(chromedp.Do(ctx), chromedp.Listen(ctx, p.listen)); err != nil {
		b.t.Fatalf("open a page: %v", err)
	}
	theme := "light"
	if s.Dark {
		theme = "dark"
	}
	call(p, network.Enable, network.EnableParams{})
	call(p, log.Enable, cdp.Empty{})
	call(p, runtime.Enable, cdp.Empty{})
	call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: s.Width, Height: s.Height, DeviceScaleFactor: 1})
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}})
	run(p, chromedp.Navigate("file://"+file))
	return p
}

func (p *Page) listen(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, e.Request.URL)
	case *log.EventEntryAdded:
		p.said = append(p.said, e.Entry.Text)
	case *runtime.EventExceptionThrown:
		p.said = append(p.said, e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		p.said = append(p.said, fmt.Sprint("console ", e.Type))
	case *page.EventJavascriptDialogOpening:
		p.said = append(p.said, "dialog "+e.Message)
	}
}

// call runs a command of the protocol.
func call[P, R any](p *Page, command cdp.Command[P, R], params P) {
	p.t.Helper()
	if _, err := chromedp.Call(p.ctx, command, params); err != nil {
		p.t.Fatalf("%s: %v", command.Method, err)
	}
}

// run runs the action.
func run[T any](p *Page, action chromedp.Action[T]) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, timeout)
	defer cancel()
	value, err := chromedp.Run(ctx, action)
	if err != nil {
		p.t.Fatal(err)
	}
	return value
}

// Press presses a key on the element that has the focus, so many times. The package kb
// names keys.
func (p *Page) Press(key string, times int) {
	p.t.Helper()
	for range times {
		run(p, chromedp.KeyEvent(key))
	}
}

// Value returns the value of a JavaScript expression.
func Value[T any](p *Page, expression string) T {
	p.t.Helper()
	return run(p, chromedp.Evaluate[T](expression))
}

// Requests returns the addresses that the page requested; the first is its own.
func (p *Page) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.requests...)
}

// Said returns the messages on the console, the exceptions and the dialogs.
func (p *Page) Said() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.said...)
}

// Screenshot returns a PNG of the screen.
func (p *Page) Screenshot() []byte {
	p.t.Helper()
	return run(p, chromedp.CaptureScreenshot())
}

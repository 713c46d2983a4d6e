package browser

import (
	_ "embed"
)

// contrasts is a JavaScript expression: the texts whose contrast with what is behind them
// is below 4.5 (WCAG 2.2, success criterion 1.4.3).
//
//go:embed contrast.js
var contrasts string

// LowContrast returns the texts of the page with a contrast below 4.5, and how many
// different pairs of colours were compared.
func LowContrast(p *Page) (low []string, compared int) {
	p.t.Helper()
	found := Value[struct {
		Low      []string `json:"low"`
		Compared int      `json:"compared"`
	}](p, contrasts)
	return found.Low, found.Compared
}

// Overflow returns by how many pixels the page is wider than the screen, and what sticks
// out of it.
func Overflow(p *Page) (pixels int, what []string) {
	p.t.Helper()
	pixels = Value[int](p, `document.documentElement.scrollWidth - document.documentElement.clientWidth`)
	if pixels > 0 {
		what = Value[[]string](p, `[...document.querySelectorAll("body *")]
			.filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".table"))
			.slice(0, 5).map(e => e.tagName + "." + e.className + " " + e.textContent.slice(0, 40))`)
	}
	return pixels, what
}

package hostile

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
)

const (
	once     = "Pagination: starting_after fetches the next page"
	endings  = "How the specification is read: absent, null, empty, and a cursor to an empty page all end a walk"
	kind     = "Pagination: the value is a UUID, a timestamp, or an email address"
	sizes    = "Limits: limit is 1 to 100"
	sorted   = "Pagination: results are sorted by id"
	silences = "the specification does not say it"
)

// pages are lists that do not end, lie, or are large.
func pages() []Behaviour {
	cursor := func(name, doc, why string, v Verdict, of func(cursor string) any) Behaviour {
		return Behaviour{Name: "pages/cursor-" + name, Doc: doc, Why: why, Verdict: v, Play: page(func(page map[string]any) {
			if next, ok := page["next_starting_after"].(string); ok && next != "" {
				page["next_starting_after"] = of(next)
			}
		})}
	}
	constant := func(value any) func(string) any { return func(string) any { return value } }
	last := func(name, doc string, change func(page map[string]any)) Behaviour {
		return Behaviour{Name: "pages/last-" + name, Doc: doc, Why: endings, Verdict: passes(), Play: page(func(page map[string]any) {
			if next, _ := page["next_starting_after"].(string); next == "" {
				change(page)
			}
		})}
	}
	items := func(name, doc, why string, v Verdict, change func(items []any) []any) Behaviour {
		return Behaviour{Name: "pages/" + name, Doc: doc, Why: why, Verdict: v, Play: page(func(page map[string]any) {
			if items, ok := page["items"].([]any); ok {
				page["items"] = change(items)
			}
		})}
	}
	rewrites := func(name, doc, why string, v Verdict, rewrite func(r *http.Request)) Behaviour {
		return Behaviour{Name: "pages/" + name, Doc: doc, Why: why, Verdict: v, Play: func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				rewrite(r)
				next.ServeHTTP(w, r)
			})
		}}
	}
	drop := func(parameter string) func(*http.Request) {
		return func(r *http.Request) {
			query := r.URL.Query()
			query.Del(parameter)
			r.URL.RawQuery = query.Encode()
		}
	}
	endlessly := func(name, doc string, verdict Verdict, cursor func(n int64) string) Behaviour {
		return Behaviour{Name: "pages/endless-" + name, Doc: doc, Why: "a walk that would not end is a failure", Verdict: verdict,
			Play: func(next http.Handler) http.Handler {
				var n atomic.Int64
				return page(func(page map[string]any) {
					at := n.Add(1)
					for _, row := range rowsIn(page) {
						row["id"] = fmt.Sprintf("0190%04x-%04x-7000-8000-%012x", at>>16&0xffff, at&0xffff, len(row))
					}
					page["next_starting_after"] = cursor(at)
				})(next)
			}}
	}
	later := func(n int64) string { return fmt.Sprintf("2025-01-01T00:00:%02d.%03dZ", n/1000%60, n%1000) }
	return []Behaviour{
		cursor("constant", "sends the same cursor with every page", once, fails("PAGE-*"), constant("2025-01-01T00:00:00.000Z")),
		cursor("number", "sends a number as a cursor", outer, fails("PAGE-*"), constant(7)),
		cursor("object", "sends an object as a cursor", outer, fails("PAGE-*"), constant(map[string]any{"after": 1})),
		cursor("array", "sends an array as a cursor", outer, fails("PAGE-*"), constant([]any{"a"})),
		cursor("boolean", "sends true as a cursor", outer, fails("PAGE-*"), constant(true)),
		cursor("words", "sends words as a cursor", kind, fails("PAGE-*", "STATUS-200", "STATUS-ALLOWED"), constant("the next page, please")),
		cursor("injection", "sends a cursor with more parameters in it", kind, fails("PAGE-*", "STATUS-200", "STATUS-ALLOWED"), func(c string) any { return c + "&limit=1000#x" }),
		cursor("line-break", "sends a cursor with a line break and a header", kind, fails("PAGE-*", "STATUS-200", "STATUS-ALLOWED"), func(c string) any { return c + "\r\nX-Injected: 1" }),
		cursor("escapes", "sends a cursor with terminal sequences", kind, fails("PAGE-*", "STATUS-200", "STATUS-ALLOWED"), func(c string) any { return c + "\x1b[31m\u202e\u0000" }),
		cursor("of-1-kB", "sends a cursor of 1 kB", "a value of more than 256 bytes does not go into a URL", fails("PAGE-*"), func(c string) any { return c + strings.Repeat("x", 1000) }),
		{Name: "pages/cursor-of-1-MB", Doc: "sends a cursor of 1 MB", Why: "a value of more than 256 bytes does not go into a URL", Verdict: fails("PAGE-*"),
			Play: page(func(page map[string]any) { page["next_starting_after"] = strings.Repeat("c", 1<<20) })},
		cursor("percent", "sends a cursor full of percent escapes", kind, fails("PAGE-*", "STATUS-200", "STATUS-ALLOWED"), func(c string) any { return strings.Repeat("%25%00%zz", 20) + c }),

		last("null", "ends a list with null", func(page map[string]any) { page["next_starting_after"] = nil }),
		last("empty", "ends a list with an empty cursor", func(page map[string]any) { page["next_starting_after"] = "" }),
		last("absent", "ends a list without a cursor", func(page map[string]any) { delete(page, "next_starting_after") }),
		{Name: "pages/last-leads-to-an-empty-page", Doc: "ends a list with a cursor to an empty page", Why: endings, Verdict: passes(), Play: page(func(page map[string]any) {
			if rows := rowsIn(page); len(rows) > 0 && page["items"] != nil {
				page["next_starting_after"] = rows[len(rows)-1]["timestamp_created"]
			}
		})},

		endlessly("new-rows", "has another page of new rows, whatever the cursor", noFailure(), later), // a long list, for all that a walk can tell
		endlessly("two-cursors", "sends two cursors in turn", fails("PAGE-*"), func(n int64) string { return later(n % 2) }),
		rewrites("ignores-cursor", "ignores starting_after", once, fails("PAGE-*"), drop("starting_after")),
		rewrites("ignores-limit", "ignores limit", sizes, fails("PAGE-*"), drop("limit")),
		items("of-5000", "sends pages of 5,000 rows", sizes, fails("PAGE-*"), func(items []any) []any {
			if len(items) == 0 {
				return items
			}
			return slices.Repeat(items[:1], 5000)
		}),
		items("empty", "sends only empty pages", "a list may be empty; what needs rows is not assessed", passes(), func([]any) []any { return []any{} }),
		items("repeats-last-row", "repeats the last row of each page", once, fails("PAGE-*"), func(items []any) []any {
			if len(items) == 0 {
				return items
			}
			return append(items, items[len(items)-1])
		}),
		items("drops-last-row", "drops the last row of each page", once, fails("PAGE-*"), func(items []any) []any { return items[:max(0, len(items)-1)] }),
		items("reversed", "reverses the rows of each page", sorted, fails("PAGE-*"), func(items []any) []any {
			slices.Reverse(items)
			return items
		}),
		{Name: "pages/pages-of-one", Doc: "sends 1 row on each page", Why: "How the specification is read: fewer items on a page is observed", Verdict: passes(),
			Play: page(func(page map[string]any) {
				if items, ok := page["items"].([]any); ok && len(items) > 1 {
					page["items"] = items[:1]
					page["next_starting_after"] = items[0].(map[string]any)["timestamp_created"]
				}
			})},
		{Name: "pages/rows-of-100-kB", Doc: "sends rows of 70 kB", Why: silences, Verdict: passes(), Play: row(func(row map[string]any) { row["note"] = strings.Repeat("n", 70_000) })},
		{Name: "pages/rows-with-1000-fields", Doc: "adds 1,000 fields to each row", Why: "How the specification is read: unknown extra fields are observed", Verdict: passes(),
			Play: row(func(row map[string]any) {
				for i := range 1000 {
					row[fmt.Sprintf("extra_%d", i)] = json.Number("1")
				}
			})},
		{Name: "pages/ids-of-1-MB", Doc: "sends ids of 1 MB", Why: "Lead list: id is a string uuid", Verdict: fails("SHAPE-LEAD_LIST-ID-VALUE", "PAGE-*"),
			Play: page(func(page map[string]any) {
				rows := rowsIn(page)
				for i, row := range rows[:min(len(rows), 5)] {
					row["id"] = fmt.Sprint(i, strings.Repeat("i", 1<<20))
				}
			})},
	}
}

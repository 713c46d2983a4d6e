package paging

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

// Sender sends one request. Client.Do is a Sender.
type Sender func(context.Context, client.Request) client.Exchange

// List returns a Fetch that reads the pages of a list with the request. It adds
// limit and cursor to the request's query; parameter is the name of the cursor.
// A plain array is read as one page. Items that are not objects are skipped. The
// error of the Fetch is a *NoPageError, that of Bounded, or the exchange's if there was
// no response.
func List(send Sender, request client.Request, parameter string) Fetch {
	return bounded(func(ctx context.Context, cursor string, limit int) (Page, error) {
		r := request
		r.Query = url.Values{}
		maps.Copy(r.Query, request.Query)
		if limit > 0 {
			r.Query.Set("limit", strconv.Itoa(limit))
		}
		if cursor != "" {
			r.Query.Set(parameter, cursor)
			if r.Allowed.Declared() { // the row of the cursor may be gone
				r.Allowed = client.AnyRefusal(http.StatusOK)
			}
		}
		ex := send(ctx, r)
		if ex.Err != nil {
			return Page{}, ex.Err
		}
		return pageIn(ex, limit)
	})
}

// maxList is how much memory the rows of a list may take, in bytes.
const maxList = 64 << 20

// bounded returns a Fetch that fails once all rows that it returned take too much memory.
func bounded(fetch Fetch) Fetch {
	size := 0
	return func(ctx context.Context, cursor string, limit int) (Page, error) {
		page, err := fetch(ctx, cursor, limit)
		for _, row := range page.Rows {
			size += schemas.Memory(row.Value)
		}
		if err == nil && size > maxList {
			return Page{}, fmt.Errorf("the rows of the list take more than %d MiB", maxList>>20)
		}
		return page, err
	}
}

// NoPageError is the error for a response that does not show rows.
type NoPageError struct{ Exchange client.Exchange }

func (e *NoPageError) Error() string {
	if e.Exchange.Status == http.StatusOK {
		return fmt.Sprintf("%s: the body is neither a page nor an array", e.Exchange.Request.Operation)
	}
	return fmt.Sprintf("%s: status %d", e.Exchange.Request.Operation, e.Exchange.Status)
}

// pageIn returns the page in a response.
func pageIn(ex client.Exchange, limit int) (Page, error) {
	body, err := schemas.Decode(ex.Body)
	if ex.Status != http.StatusOK || err != nil {
		return Page{}, &NoPageError{ex}
	}
	page := Page{Limit: limit}
	items, isArray := body.([]any)
	if object, ok := body.(map[string]any); ok {
		items, isArray = object["items"].([]any)
		page.Cursor, _ = object["next_starting_after"].(string)
	}
	if !isArray {
		return Page{}, &NoPageError{ex}
	}
	op, _ := spec.FindOperation(ex.Request.Operation)
	for _, item := range items {
		if row, ok := item.(map[string]any); ok {
			page.Rows = append(page.Rows, RowOf(op.Resource, row))
		}
	}
	return page, nil
}

// All reads a list to its end and returns its rows. It asks for pages of limit
// rows, maxPages at most; a list that leads back to earlier pages ends there. The
// error is Fetch's, or says that maxPages did not suffice.
func All(ctx context.Context, fetch Fetch, limit, maxPages int) ([]Row, error) {
	w := Run(ctx, fetch, Fixed(limit), maxPages)
	if w.End == Capped {
		return w.Rows(), fmt.Errorf("the list does not end within %d pages", maxPages)
	}
	return w.Rows(), w.Err
}

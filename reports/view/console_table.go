package view

import (
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Table writes a plain table. Numbers are right-aligned. If lastWidth is above 0,
// the last column wraps at that number of columns.
func Table(w io.Writer, columns []string, rows [][]any, lastWidth int) error {
	t := table.NewWriter()
	t.SuppressTrailingSpaces()
	t.SetStyle(table.StyleLight)
	t.Style().Options = table.OptionsNoBordersAndSeparators
	t.Style().Format.Header = text.FormatDefault
	if lastWidth > 0 {
		t.SetColumnConfigs([]table.ColumnConfig{{Number: len(columns), WidthMax: lastWidth, WidthMaxEnforcer: text.WrapSoft}})
	}
	header := table.Row{}
	for _, c := range columns {
		header = append(header, c)
	}
	t.AppendHeader(header)
	for _, row := range rows {
		t.AppendRow(row)
	}
	_, err := io.WriteString(w, t.Render()+"\n")
	return err
}

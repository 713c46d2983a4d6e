// Package doctest keeps the documents true. Its tests generate figures and
// sample output, verify links and names, and bound the length of pages and
// sentences. It has no code of its own, and nothing imports it.
package doctest

package doctest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// Limits of length, in words.
const (
	longestSentence = 30
	longestMean     = 20
)

var (
	comment      = regexp.MustCompile(`(?s)<!--.*?-->`)
	inlineCode   = regexp.MustCompile("`[^`\n]+`")
	linkText     = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	listItem     = regexp.MustCompile(`^\s*(?:-|\d+\.)\s+`)
	sentenceStop = regexp.MustCompile(`[.!?][*)]*(?:\s+|$)`)
)

// sentences returns the sentences of a document. Code blocks, tables, headings
// and comments have none. Code within a sentence counts as one word.
func sentences(text string) []string {
	text = comment.ReplaceAllString(withoutCode(text), "")
	var all []string
	var paragraph []string
	end := func() {
		for _, s := range sentenceStop.Split(strings.Join(paragraph, " "), -1) {
			if len(words(s)) > 0 {
				all = append(all, s)
			}
		}
		paragraph = nil
	}
	for line := range strings.Lines(text) {
		line = linkText.ReplaceAllString(inlineCode.ReplaceAllString(strings.TrimSpace(line), "code"), "$1")
		switch {
		case line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "|"):
			end()
			continue
		case listItem.MatchString(line):
			end()
		}
		paragraph = append(paragraph, line)
	}
	end()
	return all
}

// words returns the words of a sentence: what holds a letter or a digit.
func words(sentence string) []string {
	var all []string
	for _, word := range strings.Fields(sentence) {
		if strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			all = append(all, word)
		}
	}
	return all
}

func length(d document) []string {
	var problems []string
	total, number := 0, 0
	for _, s := range sentences(d.text) {
		n := len(words(s))
		total, number = total+n, number+1
		if n > longestSentence {
			problems = append(problems, fmt.Sprintf("a sentence has %d words, %d are the limit: %s", n, longestSentence, s))
		}
	}
	if number > 0 && total > longestMean*number {
		problems = append(problems, fmt.Sprintf("%d words in %d sentences; the limit is %d on average", total, number, longestMean))
	}
	return problems
}

func TestSentencesAreShort(t *testing.T) {
	everywhere(t, length)
	const short = "A short sentence. "
	n := func(n int) string { return strings.Repeat("word ", n-1) + "end.\n" }
	sound := "# A heading that is " + n(40) + "\n" + short + n(30) + "\n| a table | " + n(40) + "\n```sh\n" + n(40) + "```\n" +
		"<!-- " + n(40) + " -->\n" + short + "- An item\n  of two lines\n- " + n(20) + "`" + n(5) + "`\n"
	damaged(t, length, "README.md", sound, map[string]string{
		short + n(31): "has 31 words",
		short + n(16) + short + "It has " + n(29):    "has 31 words",
		short + "- It has " + n(29):                  "has 31 words",
		short + "[A link](to) and `code` " + n(27):   "has 31 words",
		short + "One line\nand another " + n(27):     "has 31 words",
		short + n(25) + n(25) + n(25) + n(28) + "\n": "words in 5 sentences; the limit is 20 on average",
	})
}

// unwanted are words of another language, or with a usual word in their place.
var unwanted = map[string]string{
	"VOID":               "inconclusive",
	"could not tell":     "inconclusive",
	"could not be told":  "inconclusive",
	"COULD NOT TELL":     "inconclusive",
	"DOES NOT CONFORM":   "fail",
	"put back":           "roll back",
	"puts back":          "roll back",
	"putting back":       "roll back",
	"goes before":        "overrides",
	"let pass":           "accept",
	"lets pass":          "accept",
	"for want of":        "without",
	"time-out":           "timeout",
	"stands for nothing": "unknown",
	"nobody's":           "name the owner",
	"it is told":         "name the actor",
	"is seen to":         "name the actor",
	"nil for nobody":     "may be nil",
	"in vain":            "without success",
	"an answer":          "a response",
	"no answer":          "no response",
}

func vocabulary(d document) []string {
	var problems []string
	for _, s := range sentences(d.text) {
		for word, better := range unwanted {
			if strings.Contains(s, word) {
				problems = append(problems, fmt.Sprintf("%q: %s (%s)", word, s, better))
			}
		}
	}
	return problems
}

// messages returns, for each Go file, the texts that the program may print: literals of
// 3 words or more. Those of the data set are data.
func messages(t *testing.T) []document {
	t.Helper()
	var all []document
	for _, source := range sources(t) {
		if strings.HasPrefix(source.path, "fixtures/dataset/") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), source.path, source.text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		ast.Inspect(file, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				if text, err := strconv.Unquote(literal.Value); err == nil && len(words(text)) >= 3 {
					texts = append(texts, text)
				}
			}
			return true
		})
		all = append(all, document{source.path, strings.Join(texts, "\n\n")})
	}
	return all
}

func TestWordsAreUsual(t *testing.T) {
	everywhere(t, vocabulary)
	for _, d := range messages(t) {
		for _, problem := range vocabulary(d) {
			t.Errorf("%s: %s", d.path, problem)
		}
	}
	damaged(t, vocabulary, "README.md", "Roll back. `VOID` in code.\n\n| VOID | in a table |\n", map[string]string{
		"The verdict is VOID.":            "inconclusive",
		"The run puts back its\nchanges.": "roll back",
		"The request had a time-out.":     "timeout",
	})
}

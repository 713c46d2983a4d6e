package evidence_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/internal/evidence"
)

// What other programs write is read, too: times of -1, bodies in base64 or none, pseudo-headers.
func TestArchivesOfOtherPrograms(t *testing.T) {
	g := NewWithT(t)
	var read []evidence.Entry
	g.Expect(evidence.Read(strings.NewReader(`{"log":{"version":"1.2","pages":[{"id":"p"}],"entries":[{"time":-1,"_x":{},"_id":"x","_key":{},"_exchange":7,
		"request":{"method":"GET","url":"https://x/","headers":[{"name":":method","value":"GET"}],"bodySize":-1},
		"response":{"status":200,"headers":[],"content":{"size":2,"text":"aGk=","encoding":"base64"}}},
		{"time":null,"request":{},"response":{"content":{}}}]}}`),
		func(e evidence.Entry) error { read = append(read, e); return nil })).To(Succeed())
	body, held, err := read[0].Response.Content.Body()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(held).To(BeTrue())
	g.Expect(string(body)).To(Equal("hi"))
	g.Expect(evidence.Header(read[0].Request.Headers)).To(BeEmpty())
	_, held, _ = read[1].Response.Content.Body()
	g.Expect(held).To(BeFalse())
}

// A broken file is refused with the place.
func TestBrokenArchives(t *testing.T) {
	for text, message := range map[string]string{
		``:                                       "want a HAR file",
		`[]`:                                     "want a HAR file",
		`{"log":{"version":"1.2"}}`:              `no member "entries"`,
		`{"log":{"entries":7}}`:                  "log.entries: want an array",
		`{"log":{"entries":[{},{"time":{}}]}}`:   "",
		`{"log":{"entries":[{},{"request":7}]}}`: "entry 1, byte",
		`{"log":{"entries":[{}`:                  "after entry 1",
	} {
		err := evidence.Read(strings.NewReader(text), func(evidence.Entry) error { return nil })
		if message == "" {
			NewWithT(t).Expect(err).NotTo(HaveOccurred(), text)
			continue
		}
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring(message)), text)
	}
}

// Whatever the file holds, reading it ends.
func FuzzRead(f *testing.F) {
	f.Add(`{"log":{"entries":[{"_id":"x","request":{"url":"http://x/","headers":[{"name":":path"}]},"response":{"status":200,"content":{"size":-1}}}]}}`)
	f.Add(`{"log":{"entries":[{"response":{"content":{"text":"x","encoding":"base64"}}}],"_more":1}}`)
	f.Fuzz(func(t *testing.T, text string) {
		_ = evidence.Read(strings.NewReader(text), func(e evidence.Entry) error {
			_, _, err := e.Response.Content.Body()
			return err
		})
	})
}

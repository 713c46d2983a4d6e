package main

import (
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/target/container"
	"outreach.example/conformance/internal/testbed"
)

// The docker commands of docs/reference-server.md serve on the ports that they publish. The
// test runs each on free ports, in the background, and with an image of its own.
func TestDockerCommandsOfTheDocuments_long(t *testing.T) {
	t.Parallel()
	testbed.NeedDocker(t, container.Sweep)
	text, err := os.ReadFile("../../docs/reference-server.md")
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if !strings.HasPrefix(line, "docker run ") {
			continue
		}
		tried++
		t.Run(strings.TrimSpace(line), func(t *testing.T) {
			g := NewWithT(t)
			args := []string{"run", "--detach"}
			var published []string
			for _, word := range words[2:] {
				if port, ok := strings.CutPrefix(word, "127.0.0.1:"); ok {
					_, port, _ = strings.Cut(port, ":") // inside the container
					published, word = append(published, port), "127.0.0.1::"+port
				}
				if word == "outreach-conformance" {
					word = testbed.Image(t)
				}
				args = append(args, word)
			}
			id := testbed.Docker(t, args...)
			t.Cleanup(func() { testbed.Docker(t, "rm", "--force", id) })
			g.Expect(published).NotTo(BeEmpty())
			for _, port := range published {
				address := testbed.Docker(t, "port", id, port)
				g.Eventually(func() error {
					response, err := http.Get("http://" + address + "/healthz")
					if err == nil {
						err = response.Body.Close()
					}
					return err
				}, patience, 50*time.Millisecond).Should(Succeed())
			}
		})
	}
	if tried < 2 {
		t.Errorf("docs/reference-server.md has %d docker run commands", tried)
	}
}

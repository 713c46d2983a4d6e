package runner

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"outreach.example/conformance/internal/sandbox"
)

// Challenge is what a run of a certification follows from: its order, and all names and values
// that it draws. Who chooses the nonce knows that nobody has prepared for the run.
type Challenge struct {
	Nonce string `json:"nonce"`
	Run   int    `json:"run"` // number of the run, from 1
	// Ordinary lets the names that the run draws look like those of any client.
	Ordinary bool `json:"ordinary,omitempty"`
}

// Seed returns the seed of the run.
func (c Challenge) Seed() uint64 { return 1 + c.draw("seed")%(1<<53-1) } // a number that JSON keeps

// Salt makes the words of the run others than those of a run with the same seed.
func (c Challenge) Salt() uint64 { return c.draw("salt") }

// begin returns the run that begins now.
func (c Challenge) begin() sandbox.Run {
	r := sandbox.RunOf(c.Proof(), "")
	r.Ordinary = c.Ordinary
	c.name(r.ID)
	return r
}

// name has the run with the id draw its names as the challenge wants.
func (c Challenge) name(id string) {
	if c.Ordinary {
		sandbox.NameOrdinary(id, c.Proof())
	}
}

// Proof returns the secret from which the id and the ordinary names of the run follow.
func (c Challenge) Proof() string { return fmt.Sprintf("%x", c.sum("proof")) }

func (c Challenge) draw(what string) uint64 {
	sum := c.sum(what)
	return binary.BigEndian.Uint64(sum[:])
}

func (c Challenge) sum(what string) [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "outreach-conformance %s %d %q", what, c.Run, c.Nonce))
}

// Explains returns an error if the recorded run does not follow from the challenge.
func (c Challenge) Explains(s Recording) error {
	for _, fact := range []struct {
		what  string
		holds bool
	}{
		{"seed", s.Seed == c.Seed()}, {"salt of its words", s.Salt == c.Salt()},
		{"id", sandbox.Run{ID: s.ID, Proof: c.Proof()}.Proven()},
	} {
		if !fact.holds {
			return fmt.Errorf("the %s of the run does not follow from the nonce %q", fact.what, c.Nonce)
		}
	}
	return nil
}

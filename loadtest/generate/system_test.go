//go:build unix

package generate

import (
	"strconv"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
)

// Signals of the terminal do not reach the null server.
func TestTheNullServerIsInAGroupOfItsOwn(t *testing.T) {
	g := NewWithT(t)
	said, stop, err := startNull(t.Context(), CalibrationOptions{Child: []string{"sh", "-c", "ps -o pgid= -p $$"}})
	g.Expect(err).NotTo(HaveOccurred())
	stop()
	group, err := strconv.Atoi(said)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(group).NotTo(Equal(syscall.Getpgrp()))
}

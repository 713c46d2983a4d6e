//go:build unix

package generate

import (
	"net"
	"syscall"
)

// probe looks at a connection that is idle.
type probe struct {
	conn syscall.RawConn // nil if it cannot be looked at
	read func(fd uintptr) bool
	err  error
}

func newProbe(c net.Conn) *probe {
	p := &probe{}
	if raw, ok := c.(syscall.Conn); ok {
		p.conn, _ = raw.SyscallConn()
	}
	p.read = func(fd uintptr) bool {
		var one [1]byte
		_, p.err = syscall.Read(int(fd), one[:])
		return true
	}
	return p
}

// quiet reports whether the connection is open and nothing has come that nobody
// asked for. It does not wait, and what has come is lost.
func (p *probe) quiet() bool {
	if p.conn == nil {
		return true
	}
	return p.conn.Read(p.read) == nil && p.err == syscall.EAGAIN
}

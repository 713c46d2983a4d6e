package inspect

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
)

// A buffer holds a reader's bytes up to the bound, for any sizes of reads and any
// announced length.
func TestFill(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.SliceOfN(rapid.Byte(), 0, 20_000).Draw(t, "body")
		most := rapid.Int64Range(0, 20_000).Draw(t, "most")
		expected := rapid.Int64Range(-1, 30_000).Draw(t, "expected")
		var r io.Reader = bytes.NewReader(body)
		switch rapid.IntRange(0, 3).Draw(t, "reader") {
		case 1:
			r = iotest.DataErrReader(r)
		case 2:
			r = iotest.HalfReader(r)
		case 3:
			r = iotest.OneByteReader(r)
		}
		b := NewBuffer()
		defer b.Release()
		err := b.Fill(r, expected, most)
		tooLong := int64(len(body)) > most || expected > most
		if errors.Is(err, ErrTooLong) != tooLong || !tooLong && err != nil {
			t.Fatalf("%d bytes of at most %d: %v", len(body), most, err)
		}
		want := body[:min(int64(len(body)), most)]
		if expected > most {
			want = nil // not even begun
		}
		if !bytes.Equal(b.Bytes(), want) {
			t.Fatalf("holds %d bytes, not the first %d", len(b.Bytes()), len(want))
		}
	})
}

// Bodies in flight share a bound. One that finds no memory is read to its end, counted,
// and not kept. What is released can be used again.
func TestBuffersShareMemory(t *testing.T) {
	g := NewWithT(t)
	const size = 8 << 20
	body := bytes.Repeat([]byte("x"), size)
	before := shared.Load() // of tests that release nothing
	var inUse []*Buffer
	fill := func(most int64) (*Buffer, error) {
		b := NewBuffer()
		inUse = append(inUse, b)
		return b, b.Fill(bytes.NewReader(body), -1, most)
	}
	for kept := range 20 {
		b, err := fill(size)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(b.Length()).To(BeEquivalentTo(size))
		g.Expect(len(b.Bytes()) == size).NotTo(Equal(b.Lost()))
		if kept == 0 {
			g.Expect(b.Lost()).To(BeFalse())
		}
	}
	g.Expect(inUse[len(inUse)-1].Lost()).To(BeTrue())
	g.Expect(inUse[len(inUse)-1].Bytes()).To(BeEmpty())
	b, err := fill(size - 1)
	g.Expect(err).To(MatchError(ErrTooLong))
	g.Expect(b.Length()).To(BeEquivalentTo(size - 1))
	g.Expect(shared.Load()).To(BeNumerically("<=", maxShared))
	for _, b := range inUse {
		b.Release()
	}
	g.Expect(shared.Load()).To(Equal(before))
	b, err = fill(size)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(b.Lost()).To(BeFalse())
	b.Release()
}

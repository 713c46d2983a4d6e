package view

import (
	"testing"
)

func TestSizes(t *testing.T) {
	for want, n := range map[string]int64{"512 B": 512, "1.5 KiB": 1536, "2 GiB": 2 << 30} {
		if got := byteSize(n); got != want {
			t.Errorf("%d bytes are written %s, want %s", n, got, want)
		}
	}
}

func TestAddressesHaveNoSecrets(t *testing.T) {
	for address, want := range map[string]string{
		"https://a.example/x": "https://a.example/x", "https://u:p@a.example": "https://a.example", "http://u:p@q@a.example/u@v": "http://a.example/u@v",
		"http://u:\x01p@a.example?u@v": "http://a.example?u@v", "": "", "a@b": "a@b",
	} {
		if got := withoutUser(address); got != want {
			t.Errorf("%q becomes %q, want %q", address, got, want)
		}
	}
}

//go:build !unix

package testbed

func setUmask(int) {} // there is none

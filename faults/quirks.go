package faults

// Quirks returns every quirk.
func Quirks() []Quirk { return nil }

package faults

func writeQuirks() []Quirk { return nil }

package faults

func valueQuirks() []Quirk { return nil }

package faults

func fieldQuirks() []Quirk { return nil }

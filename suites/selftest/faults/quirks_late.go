package faults

func lateQuirks() []Quirk { return nil }

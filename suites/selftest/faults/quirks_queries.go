package faults

func queryQuirks() []Quirk { return nil }

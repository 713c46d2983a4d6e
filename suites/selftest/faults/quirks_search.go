package faults

func searchQuirks() []Quirk { return nil }

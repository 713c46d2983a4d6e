package faults

func pageQuirks() []Quirk { return nil }

package faults

func throttleQuirks() []Quirk { return nil }

func refusalQuirks() []Quirk { return nil }

package faults

func precedenceQuirks() []Quirk { return nil }

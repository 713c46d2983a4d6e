package faults

func creationDefects() []Defect { return nil }

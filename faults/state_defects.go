package faults

func stateDefects() []Defect { return nil }

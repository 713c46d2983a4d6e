package faults

func scopeDefects() []Defect { return nil }

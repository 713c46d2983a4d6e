package faults

func keyDefects() []Defect { return nil }

package faults

func statusDefects() []Defect { return nil }

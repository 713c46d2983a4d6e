package faults

func moveDefects() []Defect { return nil }

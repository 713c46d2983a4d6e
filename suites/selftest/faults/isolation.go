package faults

func isolationDefects() []Defect { return nil }

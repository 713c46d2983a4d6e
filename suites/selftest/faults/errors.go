package faults

func errorDefects() []Defect { return nil }

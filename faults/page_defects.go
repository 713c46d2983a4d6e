package faults

func pageDefects() []Defect { return nil }

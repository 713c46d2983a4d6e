package faults

func requestDefects() []Defect { return nil }

package faults

func optionsDefects() []Defect { return nil }

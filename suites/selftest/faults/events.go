package faults

func eventDefects() []Defect { return nil }

package faults

func deletionDefects() []Defect { return nil }

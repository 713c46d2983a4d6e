package faults

func shapeDefects() []Defect { return nil }

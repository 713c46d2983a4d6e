package faults

func billingDefects() []Defect { return nil }

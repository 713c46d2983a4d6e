package faults

func creationDefects() []Defect { return nil }

// withMetadata is the query parameter that requests metadata.
const withMetadata = "with_metadata"

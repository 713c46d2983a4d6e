package loadtest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"outreach.example/conformance/reports/load"
)

// Limits of a request to a truth port.
const (
	truthTimeout = 2 * time.Second
	maxTruth     = 8 << 20
)

// memory returns a function that reads the memory use of the process from the
// truth port of a reference server; nil without such a port.
func memory(truthURL string) func(context.Context) (load.MemoryPoint, error) {
	if truthURL == "" {
		return nil
	}
	api := &http.Client{Timeout: truthTimeout}
	return func(ctx context.Context) (load.MemoryPoint, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, truthURL+"/truth", nil)
		if err != nil {
			return load.MemoryPoint{}, err
		}
		answer, err := api.Do(request)
		if err != nil {
			return load.MemoryPoint{}, err
		}
		defer answer.Body.Close()
		var truth struct{ Memory load.MemoryPoint }
		if err := json.NewDecoder(io.LimitReader(answer.Body, maxTruth)).Decode(&truth); err != nil {
			return load.MemoryPoint{}, fmt.Errorf("truth port: %w", err)
		}
		return truth.Memory, nil
	}
}

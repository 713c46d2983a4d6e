package measure

import "time"

// format names the recording file format. A change of meaning changes it.
const format = "outreach-conformance recording 1"

// wire is a Recording as a shard file holds it. Times are nanoseconds.
type wire struct {
	Format   string                  `json:"format"`
	Plan     wirePlan                `json:"plan"`
	Sent     int64                   `json:"sent"`
	Bytes    int64                   `json:"bytes"`
	Response map[Class]wireHistogram `json:"response,omitempty"`
	Service  map[Class]wireHistogram `json:"service,omitempty"`
	Lag      *wireHistogram          `json:"lag,omitempty"`
	Statuses map[int]int64           `json:"statuses,omitempty"`
	Failures map[string]int64        `json:"failures,omitempty"`
	First    *wireThird              `json:"first_third,omitempty"`
	Last     *wireThird              `json:"last_third,omitempty"`
	Labels   map[string]wireLabel    `json:"labels,omitempty"`
	Series   []wireSecond            `json:"series,omitempty"`
}

type wireThird struct {
	Count   int64   `json:"count"`
	Took    float64 `json:"took_s"`
	Squares float64 `json:"squares_s2"`
}

type wirePlan struct {
	Name       string        `json:"name"`
	Planned    int64         `json:"planned"`
	Rate       float64       `json:"rate"`
	Duration   time.Duration `json:"duration_ns"`
	Start      time.Time     `json:"start"`
	ClosedLoop bool          `json:"closed_loop,omitempty"`
	Shard      int           `json:"shard"`
	Shards     int           `json:"shards"`
}

// wireHistogram is a histogram in the HdrHistogram V2 encoding, compressed and
// in base64, with exact values that the buckets lack.
type wireHistogram struct {
	HDR     string        `json:"hdr"`
	Min     time.Duration `json:"min_ns"`
	Max     time.Duration `json:"max_ns"`
	Clipped int64         `json:"clipped,omitempty"`
}

type wireLabel struct {
	Count    map[Class]int64 `json:"count,omitempty"`
	Response *wireHistogram  `json:"response,omitempty"`
}

type wireSecond struct {
	At       int                     `json:"at"`
	Asked    int64                   `json:"asked"`
	Sent     int64                   `json:"sent"`
	Done     int64                   `json:"done"`
	Bytes    int64                   `json:"bytes"`
	Statuses map[int]int64           `json:"statuses,omitempty"`
	Response map[Class]wireHistogram `json:"response,omitempty"`
}

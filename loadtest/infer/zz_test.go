package infer

import (
	"context"
	"fmt"
	"testing"
	"time"
)

func TestTry(t *testing.T) {
	w := newWorld(3, mustParse(t, "token-bucket:20/1s,fixed-window:300/1m"), time.Millisecond)
	r, err := Run(context.Background(), w.wire(Others()...), Options{MaxTime: 20 * time.Minute, MaxRequests: 20_000, Sustain: time.Minute, Log: func(s string) { fmt.Println(w.now.Format("04:05.000"), s, w.sent.Load()) }})
	fmt.Println(err, r.Total, r.Layers[1].Kind)
	last := ""
	for _, p := range r.Picture {
		if p.Verdict+p.Step != last {
			fmt.Println(p.Sent, p.Verdict, p.Step)
		}
		last = p.Verdict + p.Step
	}
}

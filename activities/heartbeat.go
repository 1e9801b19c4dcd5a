package activities

import (
	"context"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"

	"conclave/internal/secret"
)

// beatEvery keeps well below the heartbeat time-out, whatever the agent prints.
const beatEvery = 5 * time.Second

// Beat is the heartbeat detail: what a running step was last seen doing.
type Beat struct {
	Step   string `json:"step"`
	Action string `json:"action,omitempty"`
}

// pulse beats from the first moment until it is stopped.
type pulse struct {
	mu   sync.Mutex
	beat Beat
	ctx  context.Context
	done chan struct{}
	// secrets are taken out of what is told.
	secrets *secret.Scanner
	wait    sync.WaitGroup
}

func startPulse(ctx context.Context, step string, secrets *secret.Scanner) *pulse {
	p := &pulse{ctx: ctx, beat: Beat{Step: step}, done: make(chan struct{}), secrets: secrets}
	p.send()
	p.wait.Go(p.run)
	return p
}

func (p *pulse) run() {
	ticker := time.NewTicker(beatEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			p.send()
		case <-p.done:
			return
		}
	}
}

// act notes the last action and beats; the SDK holds back what comes too often.
func (p *pulse) act(action string) {
	action = bounded(p.secrets.String(action))
	p.mu.Lock()
	changed := p.beat.Action != action
	p.beat.Action = action
	p.mu.Unlock()
	if changed {
		p.send()
	}
}

func (p *pulse) send() {
	p.mu.Lock()
	beat := p.beat
	p.mu.Unlock()
	activity.RecordHeartbeat(p.ctx, beat)
}

func (p *pulse) stop() {
	close(p.done)
	p.wait.Wait()
}

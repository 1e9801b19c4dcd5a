package agent

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// codexSessionDir is where codex leaves its session files, by a turn's environment.
func codexSessionDir(env []string) string {
	home := lookupEnv(env, "CODEX_HOME")
	if home == "" {
		if home = lookupEnv(env, "HOME"); home != "" {
			home = filepath.Join(home, ".codex")
		}
	}
	if !filepath.IsAbs(home) {
		return ""
	}
	return filepath.Join(home, "sessions")
}

// codexMost bounds what is read of a session file, and codexLine what is kept of one of its lines.
const (
	codexMost = 64 << 20
	codexLine = 1 << 20
)

// codexSession is the provider and the model that a session file names, the newest turn's; "" where it does not. The
// stream holds neither. The file is the program's, and its tools run as the same user: it may be missing or anything, so
// only a regular file is read, up to a limit.
func codexSession(dir, session string) (provider, model string) {
	if dir == "" || !uuidPattern.MatchString(session) {
		return "", ""
	}
	path := newestRollout(dir, session)
	if path == "" {
		return "", ""
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", ""
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", ""
	}
	return readRollout(file)
}

// newestRollout finds sessions/<year>/<month>/<day>/rollout-<time>-<session>.jsonl.
func newestRollout(dir, session string) string {
	found := ""
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what cannot be listed holds nothing for us
		}
		name := d.Name()
		if d.Type().IsRegular() && strings.HasPrefix(name, "rollout-") && strings.HasSuffix(name, "-"+session+".jsonl") && path > found {
			found = path
		}
		return nil
	})
	return found
}

func readRollout(file *os.File) (provider, model string) {
	reader := bufio.NewReaderSize(file, 64<<10)
	var line []byte
	for read := 0; read < codexMost; {
		part, more, err := reader.ReadLine()
		if err != nil {
			return provider, model
		}
		read += len(part)
		if len(line)+len(part) <= codexLine {
			line = append(line, part...)
		}
		if more {
			continue
		}
		var e struct {
			Type    string `json:"type"`
			Payload struct {
				Provider string `json:"model_provider"`
				Model    string `json:"model"`
			} `json:"payload"`
		}
		if bytes.Contains(line, []byte(`"session_meta"`)) || bytes.Contains(line, []byte(`"turn_context"`)) {
			_ = json.Unmarshal(line, &e) // a line that is none of these says nothing
		}
		switch e.Type {
		case "session_meta":
			provider = short(e.Payload.Provider, actionLimit)
		case "turn_context":
			model = firstText(short(e.Payload.Model, actionLimit), model)
		}
		line = line[:0]
	}
	return provider, model
}

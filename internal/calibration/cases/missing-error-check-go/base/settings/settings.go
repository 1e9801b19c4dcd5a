// Package settings keeps the settings of the desktop client in a JSON file.
package settings

import (
	"encoding/json"
	"fmt"
	"os"
)

// Settings are what a person chose.
type Settings struct {
	Theme    string   `json:"theme"`
	Accounts []string `json:"accounts"`
}

// Load reads the settings of a file.
func Load(path string) (Settings, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return Settings{}, fmt.Errorf("read settings: %w", err)
	}
	var s Settings
	if err := json.Unmarshal(content, &s); err != nil {
		return Settings{}, fmt.Errorf("read settings of %s: %w", path, err)
	}
	return s, nil
}

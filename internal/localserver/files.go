package localserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// lockSuffix follows the names of locks; tools/devserver uses the same.
const lockSuffix = ".lock"

// builtSuffix changes when our server learns a flag that we pass: one that was built before does not know it.
const builtSuffix = "-2"

// kind tells servers apart by what they know of our protocol.
type kind string

const (
	kindDevserver kind = "devserver" // writes server.json, locks its database, ends without clients
	kindTemporal  kind = "temporal"  // the plain CLI: we do these for it
)

// ready is the content of server.json.
type ready struct {
	Address   string    `json:"address"`
	UIAddress string    `json:"ui_address"`
	Namespace string    `json:"namespace"`
	PID       int       `json:"pid"`
	StartTime time.Time `json:"start_time"`
	Version   string    `json:"version"`
	DB        string    `json:"db"`
	Kind      kind      `json:"kind,omitempty"` // empty: a devserver wrote it
}

// files are the names in one state folder.
type files struct{ dir string }

func newFiles(dir string) (files, error) {
	if dir == "" {
		return files{}, errors.New("no state folder given for the local Temporal server")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return files{}, fmt.Errorf("state folder %s: %w", dir, err)
	}
	return files{abs}, nil
}

func (f files) clients() string   { return filepath.Join(f.dir, "clients") }
func (f files) startLock() string { return filepath.Join(f.dir, "start.lock") }
func (f files) ready() string     { return filepath.Join(f.dir, "server.json") }
func (f files) log() string       { return filepath.Join(f.dir, "server.log") }
func (f files) built() string {
	return filepath.Join(f.dir, "bin", "devserver-"+ServerVersion+builtSuffix)
}

// database is the file for one server version, which may be the placeholder that a devserver replaces.
func (f files) database(version string) string {
	return filepath.Join(f.dir, "server-"+version+".db")
}

func lockOf(db string) string { return db + lockSuffix }

// databaseLocks lists the lock files of all databases in the folder.
func (f files) databaseLocks() ([]string, error) {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	var locks []string
	for _, e := range entries {
		if ok, _ := filepath.Match("server-*.db"+lockSuffix, e.Name()); ok {
			locks = append(locks, filepath.Join(f.dir, e.Name()))
		}
	}
	return locks, nil
}

// readReady reads server.json, which may be stale.
func (f files) readReady() (ready, error) {
	var info ready
	data, err := os.ReadFile(f.ready())
	if err != nil {
		return info, err
	}
	if err := json.Unmarshal(data, &info); err != nil {
		return info, fmt.Errorf("%s: %w", f.ready(), err)
	}
	if info.Address == "" || info.DB == "" || info.PID <= 0 {
		return info, fmt.Errorf("%s: address, db or pid is missing", f.ready())
	}
	if info.Namespace == "" {
		info.Namespace = defaultNamespace
	}
	if info.Kind == "" {
		info.Kind = kindDevserver
	}
	return info, nil
}

// writeReady writes server.json in one step, for a server that does not do it itself.
func (f files) writeReady(info ready) error {
	data, err := json.Marshal(info)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(f.dir, "server.json.*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(append(data, '\n'))
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), f.ready())
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
	}
	return err
}

// removeReady removes server.json if it names the process.
func (f files) removeReady(pid int) {
	if info, err := f.readReady(); err == nil && info.PID == pid {
		_ = os.Remove(f.ready())
	}
}

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/headers"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	sqliteschema "go.temporal.io/server/schema/sqlite"
)

// Files beside the database file. lockSuffix is a contract with internal/localserver, which tells a live server by it.
const (
	lockSuffix    = ".lock"     // held exclusively for the life of the server
	versionSuffix = ".version"  // the server version that made the file
	makingSuffix  = ".creating" // there while the schema is written
)

// store is the database of one server.
type store struct {
	path string // "" in memory
	sql  *config.SQL
	lock *os.File
}

// defaultPragmas: a write-ahead log that is synchronised at checkpoints survives every kill of the process, and may lose the last moments only when
// the machine itself loses power.
func defaultPragmas() map[string]string {
	return map[string]string{"journal_mode": "wal", "synchronous": "1", "busy_timeout": "10000"}
}

// openStore locks the database file and creates its schema when there is none; path "" is a database in memory.
func openStore(path string, pragmas map[string]string) (*store, error) {
	if path == "" {
		return memoryStore(), nil
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("--db-filename %q: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("folder of --db-filename: %w", err)
	}
	lock, err := lockDatabase(path)
	if err != nil {
		return nil, err
	}
	s := &store{path: path, sql: fileConfig(path, pragmas), lock: lock}
	if err := s.prepareFile(); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func memoryStore() *store {
	return &store{sql: &config.SQL{
		PluginName: sqliteplugin.PluginName,
		// The server pools its connections by name for the life of the process.
		DatabaseName:      "devserver-" + strconv.Itoa(os.Getpid()),
		ConnectAttributes: map[string]string{"mode": "memory", "cache": "shared"},
	}}
}

func fileConfig(path string, pragmas map[string]string) *config.SQL {
	attributes := map[string]string{"mode": "rwc"}
	for name, value := range pragmas {
		attributes[name] = value
	}
	// The name becomes part of an SQLite file URI.
	escape := strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23")
	return &config.SQL{PluginName: sqliteplugin.PluginName, DatabaseName: escape.Replace(path), ConnectAttributes: attributes}
}

// lockDatabase takes <path>.lock and writes our process id into it, for the error message of the next one.
func lockDatabase(path string) (*os.File, error) {
	f, err := os.OpenFile(path+lockSuffix, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock of the database: %w", err)
	}
	free, err := lockPatiently(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	if !free {
		defer f.Close()
		return nil, coded(exitLocked, "database %s is in use by another server%s: two servers on one file would corrupt it. End that one, or choose another --db-filename", path, holder(f))
	}
	if err := errors.Join(f.Truncate(0), writeAt0(f, strconv.Itoa(os.Getpid())+"\n")); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return f, nil
}

// lockPatiently tries for a moment: a starter that tests whether a server is alive holds the lock for microseconds.
func lockPatiently(f *os.File) (bool, error) {
	for range 20 {
		if free, err := tryLock(f); free || err != nil {
			return free, err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false, nil
}

func writeAt0(f *os.File, s string) error {
	_, err := f.WriteAt([]byte(s), 0)
	return err
}

// holder names the process that wrote itself into the lock file, for people; nothing is decided by it.
func holder(f *os.File) string {
	buf := make([]byte, 20)
	n, _ := f.ReadAt(buf, 0)
	if pid := strings.TrimSpace(string(buf[:n])); pid != "" {
		return " (process " + pid + ")"
	}
	return ""
}

// prepareFile refuses the file of another server version and creates the schema of a new one. A creation that was cut short is done again from
// nothing: no server has run on such a file.
func (s *store) prepareFile() error {
	if exists(s.path + makingSuffix) {
		if err := removeDatabase(s.path); err != nil {
			return fmt.Errorf("half-made database: %w", err)
		}
	}
	if exists(s.path) {
		return checkVersion(s.path, headers.ServerVersion)
	}
	if err := os.WriteFile(s.path+makingSuffix, nil, 0o600); err != nil {
		return fmt.Errorf("create database: %w", err)
	}
	if err := sqliteschema.SetupSchema(s.sql); err != nil {
		return fmt.Errorf("create database %s: %w", s.path, err)
	}
	if err := os.WriteFile(s.path+versionSuffix, []byte(headers.ServerVersion+"\n"), 0o600); err != nil {
		return fmt.Errorf("create database: %w", err)
	}
	return os.Remove(s.path + makingSuffix)
}

// checkVersion compares the version noted beside the file with ours: the server does not migrate SQLite files.
func checkVersion(path, ours string) error {
	noted, err := os.ReadFile(path + versionSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return coded(exitVersion, "database %s does not say which server version wrote it (no %s beside it): this server %s does not touch it. Choose another --db-filename, or write %q into that file if you know that it fits",
			path, filepath.Base(path)+versionSuffix, ours, ours)
	}
	if err != nil {
		return fmt.Errorf("version of database: %w", err)
	}
	if theirs := strings.TrimSpace(string(noted)); theirs != ours {
		return coded(exitVersion, "database %s was written by server %q and this is server %q: the schema is not migrated. Use that server, or choose another --db-filename ({version} in it stands for the version)", path, theirs, ours)
	}
	return nil
}

func removeDatabase(path string) error {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// close gives the lock back. The lock file stays: removing it would let two servers lock two files of the same name.
func (s *store) close() {
	if s.lock != nil {
		s.lock.Close()
	}
}

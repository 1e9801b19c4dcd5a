package localserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"time"
)

// retention is how long ended workflows are kept; tools/devserver has the same default.
const retention = 720 * time.Hour

var serverVersion = regexp.MustCompile(`\(Server ([0-9][^,)\s]*)`)

// launchTemporal starts a plain `temporal server start-dev` and does for it what our own server does itself: it lets the process inherit the locked
// lock file of its database, so that the lock lives as long as the server, asks for readiness, and writes server.json.
func launchTemporal(ctx context.Context, o Options, f files, path string) (*Server, error) {
	version, err := temporalVersion(ctx, path)
	if err != nil {
		return nil, err
	}
	db := f.database(version)
	lock, err := openLock(lockOf(db))
	if err != nil {
		return nil, err
	}
	if lock == nil {
		return nil, fmt.Errorf("database %s is in use by another server", db)
	}
	defer lock.close() // the child's copy keeps the lock
	if err := noteVersion(db, version); err != nil {
		return nil, err
	}
	info := ready{Namespace: defaultNamespace, Version: version, DB: db, Kind: kindTemporal, StartTime: time.Now().UTC()}
	args, drop, err := temporalArgs(o, db, &info)
	if err != nil {
		return nil, err
	}
	defer drop() // until it listens nobody else may be handed its ports
	c, err := startChild(f, path, args, lock.file)
	if err != nil {
		return nil, err
	}
	info.PID = c.pid
	if _, err := c.awaitReady(ctx, func() (ready, error) { return info, answersWithin(ctx, time.Second, info.Address) }); err != nil {
		return nil, err
	}
	s := serverOf(info, f)
	if err := errors.Join(s.addSearchAttributes(ctx, o.SearchAttributes), s.setRetention(ctx, retention), f.writeReady(info)); err != nil {
		_ = terminate(c.pid)
		return nil, fmt.Errorf("set up the local Temporal server: %w%s", err, c.tail())
	}
	return s, nil
}

func answersWithin(ctx context.Context, d time.Duration, address string) error {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return frontendAnswers(ctx, address)
}

// temporalVersion asks the CLI for the version of the server in it, which decides what files it can read.
func temporalVersion(ctx context.Context, path string) (string, error) {
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", path, err)
	}
	m := serverVersion.FindSubmatch(out)
	if m == nil {
		return "", fmt.Errorf("%s --version does not tell the version of its server: %q", path, out)
	}
	return string(m[1]), nil
}

// noteVersion leaves the note that our own server wants to see beside a database.
func noteVersion(db, version string) error {
	if _, err := os.Stat(db); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(db+".version", []byte(version+"\n"), 0o600)
}

// temporalArgs is the command line of the CLI; the addresses go into info. drop gives its ports up.
func temporalArgs(o Options, db string, info *ready) (args []string, drop func(), err error) {
	port, dropPort, err := claimPort()
	if err != nil {
		return nil, nil, err
	}
	info.Address = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	args = []string{
		"server", "start-dev", "--ip", "127.0.0.1", "--port", strconv.Itoa(port), "--namespace", defaultNamespace, "--db-filename", db, "--log-level", "error",
		"--dynamic-config-value", "frontend.enableServerVersionCheck=false",
		"--dynamic-config-value", "system.forceSearchAttributesCacheRefreshOnRead=true",
		"--dynamic-config-value", "frontend.WorkerCommandsEnabled=true",
		"--dynamic-config-value", "system.enableCancelActivityWorkerCommand=true",
	}
	if !o.UI {
		return append(append(args, "--headless"), attributeArgs(o.SearchAttributes)...), dropPort, nil
	}
	ui, dropUI := o.UIPort, func() {}
	if ui == 0 {
		if ui, dropUI, err = claimPort(); err != nil {
			dropPort()
			return nil, nil, err
		}
	}
	info.UIAddress = net.JoinHostPort("127.0.0.1", strconv.Itoa(ui))
	return append(append(args, "--ui-port", strconv.Itoa(ui)), attributeArgs(o.SearchAttributes)...), func() { dropPort(); dropUI() }, nil
}

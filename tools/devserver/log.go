package main

import (
	"fmt"
	"io"
	"os"
	"slices"

	"go.temporal.io/server/common/log"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// silent is above every level of zap: nothing is written.
const silent = zapcore.FatalLevel + 1

var (
	logLevels  = []string{"debug", "info", "warn", "error", "never"}
	logFormats = []string{"text", "pretty", "json"}
)

func checkLogFlags(level, format string) error {
	if !slices.Contains(logLevels, level) {
		return fmt.Errorf("--log-level %q is unknown: use one of %v", level, logLevels)
	}
	if !slices.Contains(logFormats, format) {
		return fmt.Errorf("--log-format %q is unknown: use one of %v", format, logFormats)
	}
	return nil
}

// quietable is the server's logger with a switch: a server that stops logs an error with a stack for every poll it interrupts.
type quietable struct {
	log.Logger
	level zap.AtomicLevel
}

// silence ends all output.
func (q quietable) silence() { q.level.SetLevel(silent) }

// newLogger builds the logger for checked values of --log-level and --log-format.
func newLogger(level, format string, out io.Writer) quietable {
	atom := zap.NewAtomicLevelAt(silent)
	if level != "never" {
		if l, err := zapcore.ParseLevel(level); err == nil {
			atom.SetLevel(l)
		}
	}
	enc := zap.NewProductionEncoderConfig()
	enc.EncodeTime = zapcore.ISO8601TimeEncoder
	encoder := zapcore.NewConsoleEncoder(enc)
	if format == "json" {
		encoder = zapcore.NewJSONEncoder(enc)
	}
	sink := zapcore.Lock(zapcore.AddSync(out))
	core := zapcore.NewCore(encoder, sink, atom)
	// No stack traces. A Fatal of the server ends this process; that is the reason for it to be one of its own.
	z := zap.New(core, zap.WithFatalHook(fatalHook{out}))
	return quietable{Logger: log.NewZapLogger(z), level: atom}
}

// fatalHook ends the process with our exit code and a line that is written whatever the log level and format are.
type fatalHook struct{ out io.Writer }

func (h fatalHook) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	values := zapcore.NewMapObjectEncoder()
	for _, f := range fields {
		f.AddTo(values)
	}
	fmt.Fprintf(h.out, "devserver: the Temporal server cannot go on: %s %v\n", entry.Message, values.Fields)
	os.Exit(exitFailed)
}

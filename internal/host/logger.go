package host

import (
	"fmt"

	"go.temporal.io/sdk/log"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// Logger writes Temporal's log lines with zap.
type Logger struct{ zap *zap.SugaredLogger }

// NewLogger adapts a zap logger.
func NewLogger(z *zap.Logger) Logger {
	return Logger{z.WithOptions(zap.AddCallerSkip(1)).Sugar()}
}

// FileLogger logs to a file, warnings and worse. It is made when missing and appended to.
func FileLogger(path string) (*zap.Logger, error) {
	c := zap.NewProductionConfig()
	c.Level = zap.NewAtomicLevelAt(zapcore.WarnLevel)
	c.OutputPaths, c.ErrorOutputPaths = []string{path}, []string{path}
	c.EncoderConfig.EncodeTime = zapcore.RFC3339NanoTimeEncoder
	z, err := c.Build()
	if err != nil {
		return nil, fmt.Errorf("log file %s: %w", path, err)
	}
	return z, nil
}

// Debug implements log.Logger.
func (l Logger) Debug(message string, pairs ...any) { l.zap.Debugw(message, pairs...) }

// Info implements log.Logger.
func (l Logger) Info(message string, pairs ...any) { l.zap.Infow(message, pairs...) }

// Warn implements log.Logger.
func (l Logger) Warn(message string, pairs ...any) { l.zap.Warnw(message, pairs...) }

// Error implements log.Logger.
func (l Logger) Error(message string, pairs ...any) { l.zap.Errorw(message, pairs...) }

// With implements log.WithLogger.
func (l Logger) With(pairs ...any) log.Logger { return Logger{l.zap.With(pairs...)} }

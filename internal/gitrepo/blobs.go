package gitrepo

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// eachBlob streams the contents of blobs in order through one process.
func (r *RunRepo) eachBlob(ctx context.Context, ids []string, each func(i int, size int64, content io.Reader) error) error {
	if len(ids) == 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	reader, writer := io.Pipe()
	c := r.call()
	c.heavy, c.stdin, c.stdout = true, strings.NewReader(strings.Join(ids, "\n")+"\n"), writer
	done := make(chan error, 1)
	go func() {
		_, err := r.runner.run(ctx, c, "cat-file", "--batch")
		_ = writer.CloseWithError(err)
		done <- err
	}()
	err := readBlobs(bufio.NewReaderSize(reader, 1<<16), ids, each)
	if err != nil {
		cancel()
	}
	_ = reader.CloseWithError(io.ErrClosedPipe)
	if runErr := <-done; err == nil {
		err = runErr
	}
	return err
}

// readBlobs reads the batch format: "id type size LF content LF" for each.
func readBlobs(in *bufio.Reader, ids []string, each func(i int, size int64, content io.Reader) error) error {
	for i, id := range ids {
		head, err := in.ReadString('\n')
		if err != nil {
			return fmt.Errorf("read object %s: %w", short(id), err)
		}
		fields := strings.Fields(head)
		if len(fields) != 3 || fields[1] != "blob" {
			return fmt.Errorf("%w: %s: git says %q", ErrMissingObject, id, strings.TrimSpace(head))
		}
		size, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil {
			return fmt.Errorf("read object %s: %w", short(id), err)
		}
		content := io.LimitReader(in, size)
		if err := each(i, size, content); err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, content); err != nil {
			return fmt.Errorf("read object %s: %w", short(id), err)
		}
		if _, err := in.Discard(1); err != nil {
			return fmt.Errorf("read object %s: %w", short(id), err)
		}
	}
	return nil
}

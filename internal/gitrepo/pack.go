package gitrepo

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// looseLimit is the number of objects up to which an imported pack is unpacked: a file per object costs less than a
// pack of few.
const looseLimit = 200

// Pack writes one pack with every object that is reachable from want (commits, trees, blobs) and not from have. Those of
// have that this repository lacks are left out of account. The pack is complete given have.
func (r *RunRepo) Pack(ctx context.Context, w io.Writer, want, have []string) error {
	var revisions strings.Builder
	for _, id := range want {
		if !r.Has(ctx, id) {
			return fmt.Errorf("pack: %w: %s is not in %s", ErrMissingObject, id, r.dir)
		}
		revisions.WriteString(id + "\n")
	}
	for _, id := range have {
		if r.Has(ctx, id) {
			revisions.WriteString("^" + id + "\n")
		}
	}
	c := r.call()
	c.heavy, c.stdin, c.stdout = true, strings.NewReader(revisions.String()), w
	if _, err := r.runner.run(ctx, c, "pack-objects", "--revs", "--stdout", "--delta-base-offset", "-q"); err != nil {
		return fmt.Errorf("pack: %w", missing(err))
	}
	return nil
}

// Import reads one pack, as Pack writes it, into the repository. A cut or damaged pack is an error and leaves nothing
// that could be reached.
func (r *RunRepo) Import(ctx context.Context, rd io.Reader) error {
	if err := importPack(ctx, r.runner, r.call(), rd); err != nil {
		return fmt.Errorf("import into %s: %w", r.dir, err)
	}
	return nil
}

// importPack stores a pack as loose objects or as a pack, by its size.
func importPack(ctx context.Context, runner Runner, c call, rd io.Reader) error {
	buffered := bufio.NewReader(rd)
	header, err := buffered.Peek(12)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if len(header) < 12 || string(header[:4]) != "PACK" {
		return fmt.Errorf("what arrived is no git pack (%d bytes at its beginning)", len(header))
	}
	c.heavy, c.stdin = true, buffered
	if binary.BigEndian.Uint32(header[8:12]) <= looseLimit {
		_, err = runner.run(ctx, c, "unpack-objects", "-q")
	} else {
		_, err = runner.run(ctx, c, "index-pack", "--stdin", "--fix-thin")
	}
	return err
}
